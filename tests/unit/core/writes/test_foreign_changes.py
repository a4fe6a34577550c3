"""What others changed since our apply, or set beside it: it stands, and all the others return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gate.core.attempt.dropped_fields import DroppedFields
from gate.core.attempt.transitions import State
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Write
from gate.core.rollout.baseline import Baseline
from gate.core.versions.judged_version import RESTARTED_AT
from gate.core.writes.additions import is_beside
from gate.core.writes.authorship import describe_scaler
from gate.core.writes.results import find_sent
from gate.report.document.remarks import remarks
from tests.unit.core.leaves import IMAGE, Leaves, config, manifest
from tests.unit.core.player import Player, ends, lost, planned, serving
from tests.unit.core.recovery.test_resumption import Dying, finished, plan_of, resumed
from tests.unit.core.server import Server
from tests.unit.core.world import WEB, config_ref, deployment, template

SETTINGS = config_ref()
BACK = (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
BEFORE = {"mode": "one", "level": "1", "gone": "x"}
AFTER = {"mode": "two", "level": "2", "new": "y"}


def settings(data: dict[str, str]) -> dict[str, Any]:
    """Return a ConfigMap."""
    return {**config(""), "data": data}


def served() -> Server:
    """Return a server that runs v1 with its configuration."""
    return serving(settings(BEFORE), v2="crash")


def failed() -> Player:
    """Return an attempt that is about to go back."""
    server = served()
    player = Player(server, planned(server, settings(AFTER), manifest("v2")))
    player.run_to(State.RECORDING, Leg.BACK)
    return player


def data_of(server: Server) -> Leaves:
    """Return the data of the ConfigMap."""
    leaves = server.stored[SETTINGS].leaves
    return {path.removeprefix("data."): value for path, value in leaves.items()}


@pytest.mark.contract("B140")
def test_a_key_that_only_the_failed_version_had_goes_unless_somebody_changed_it() -> None:
    """Theirs stays, and is named."""
    player = failed()
    player.server.edit(SETTINGS, "them", {"data.new": "9"})
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**BEFORE, "new": "9"}
    assert dict(player.attempt.ledger.dropped) == {SETTINGS: DroppedFields((".data.new",))}


@pytest.mark.contract("B132")
def test_a_key_that_another_run_of_the_gate_added_stays() -> None:
    """It is our manager's, and an apply without it would remove it; all the others return."""
    player = failed()
    player.server.put(settings({**AFTER, "theirs": "9"}))
    attempt = player.run()
    assert ends(attempt) == BACK
    assert data_of(player.server) == {**BEFORE, "theirs": "9"}
    assert dict(attempt.ledger.kept_paths) == {SETTINGS: (".data.theirs",)}
    [warning] = [line for line in remarks(attempt) if "kept" in line]
    assert ".data.theirs of configmap/settings" in warning


@pytest.mark.contract("B124", "B132", "B140")
def test_a_value_that_another_run_of_the_gate_changed_is_left() -> None:
    """An apply under the same name cannot leave one field: the object stays as that run has it."""
    player = failed()
    player.server.put(settings({**AFTER, "level": "9", "theirs": "9"}))
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**AFTER, "level": "9", "theirs": "9"}
    assert player.attempt.ledger.left_to_others == (SETTINGS,)


@pytest.mark.contract("B132")
def test_recover_keeps_what_another_run_of_the_gate_added() -> None:
    """What the record expected of our write tells what came after it."""
    server = served()
    record = Dying(server, plan_of(server, settings(AFTER), manifest("v2"))).die_after_writes(2)
    server.put(settings({**AFTER, "theirs": "9"}))
    finished(server, record)
    assert data_of(server) == {**BEFORE, "theirs": "9"}


@pytest.mark.contract("B140")
def test_a_key_that_somebody_removed_does_not_come_back() -> None:
    """The removal is a change of theirs as any other."""
    player = failed()
    ref = SETTINGS
    for part in player.server.stored[ref].parts.values():
        part.pop("data.level", None)
    player.server.touch(ref)
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {"mode": "one", "gone": "x"}


@pytest.mark.contract("B140", "B162")
@pytest.mark.parametrize("done", [True, False])
def test_our_own_write_back_is_not_taken_for_theirs(done: bool) -> None:
    """Its answer may be lost, and another key be changed before it is read again."""
    player = failed()

    def lost_then_changed(p: Player, effect: Write) -> Any:
        answer = lost(p, effect, done=done)
        p.server.edit(SETTINGS, "them", {"data.level": "9"})
        return answer

    player.bend(Write, lost_then_changed)
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**BEFORE, "level": "9"}


@pytest.mark.contract("B140", "B533")
def test_recover_leaves_the_foreign_key_and_returns_the_others() -> None:
    """The record tells what our write had left."""
    server = served()
    server.behaviour["shop/web:v2"] = "stuck"
    dying = Dying(server, plan_of(server, settings(AFTER), manifest("v2")))
    assert dying.die_after(3)
    assert data_of(server) == AFTER
    server.edit(SETTINGS, "them", {"data.level": "9"})
    assert finished(server, dying.record).attempt.exit_code == 4
    assert data_of(server) == {**BEFORE, "level": "9"}


@pytest.mark.contract("B532", "B533")
def test_recover_has_nothing_to_do_where_nothing_was_written() -> None:
    """A key that somebody changed before the first write makes no attempt of it."""
    server = served()
    dying = Dying(server, plan_of(server, settings(AFTER), manifest("v2")))
    assert dying.die_after(1)
    server.edit(SETTINGS, "them", {"data.level": "9"})
    assert resumed(server, dying.record) is None


def forced(server: Server) -> Player:
    """Return an attempt that took the image by force, about to go back."""
    server.edit(WEB, "kubectl-set", {IMAGE: "shop/web:hotfix"})
    server.control(WEB)
    player = Player(server, planned(server, manifest("v2"), force=True))
    player.run_to(State.RECORDING, Leg.BACK)
    return player


@pytest.mark.contract("B140", "B70")
def test_what_we_forced_is_forced_back() -> None:
    """Two own it: without force the server would refuse the way back."""
    player = forced(served())
    stored = player.server.stored[player.web]
    stored.parts.setdefault(("kubectl-set", "Update"), {})[IMAGE] = "shop/web:v2"
    player.server.touch(player.web)
    assert ends(player.run()) == BACK
    assert stored.image == "shop/web:hotfix"
    assert [write.force for write in player.writes][-2:] == [False, True]


@pytest.mark.contract("B140", "B70")
def test_nothing_else_is_forced_back() -> None:
    """A label that another manager owns with us is left to it, though the image is forced."""
    player = forced(served())
    stored = player.server.stored[player.web]
    theirs = stored.parts.setdefault(("kubectl-set", "Update"), {})
    theirs |= {IMAGE: "shop/web:v2", "spec.replicas": 6}
    stored.parts["rollout-gate", "Apply"].pop("spec.replicas")
    player.server.touch(player.web)
    assert ends(player.run()) == BACK
    assert (stored.image, stored.leaves["spec.replicas"]) == ("shop/web:hotfix", 6)


APPLIED = manifest("v2")
HASH = "spec.template.metadata.annotations.hash"


def read(server: Server) -> LiveObject:
    """Return what the server has now."""
    live = server.read(WEB)
    assert live is not None
    return live


def trial_of(body: Mapping[str, Any]) -> LiveObject:
    """Return what a dry run of the apply answers."""
    server = serving()
    server.put(body)
    return read(server)


def changed(manager: str, leaves: Mapping[str, Any]) -> tuple[LiveObject, LiveObject]:
    """Return the Deployment before and after a change by a manager."""
    server = serving()
    before = read(server)
    server.edit(WEB, manager, dict(leaves))
    return before, read(server)


@pytest.mark.contract("B1751")
@pytest.mark.parametrize(
    ("manager", "leaves", "is_left"),
    [
        ("reloader", {HASH: "abc"}, True),
        ("reloader", {HASH: "abc", IMAGE: "shop/web:v9"}, False),
        ("somebody", {"spec.paused": True}, False),
    ],
    ids=["addition", "another-version", "no-template"],
)
def test_only_what_the_apply_leaves_as_it_is_counts(
    manager: str, leaves: dict[str, Any], is_left: bool
) -> None:
    """What the apply sets would be overwritten, or conflict; what is no template was not asked."""
    before, live = changed(manager, leaves)
    assert is_beside(FIELD_MANAGER, trial_of(APPLIED), before, live) is is_left


def hashed(image: str) -> dict[str, Any]:
    """Return a version with the annotation that the reloader sets."""
    body = manifest(image)
    body["spec"]["template"]["metadata"] = {"annotations": {"hash": "ours"}}
    return body


@pytest.mark.contract("B1751")
def test_what_the_new_version_sets_as_well_is_no_addition() -> None:
    """The version before did not have it; by the dry run our manager owns it then."""
    before, live = changed("reloader", {HASH: "abc"})
    assert not is_beside(FIELD_MANAGER, trial_of(hashed("v2")), before, live)


@pytest.mark.contract("B1751")
def test_what_another_run_of_the_gate_added_is_no_addition() -> None:
    """Our manager owns it then, so the apply would remove it."""
    server = serving()
    before = read(server)
    server.put(hashed("v1"))
    assert not is_beside(FIELD_MANAGER, trial_of(APPLIED), before, read(server))


@pytest.mark.contract("B1751")
def test_without_a_dry_run_nothing_is_known_to_be_left() -> None:
    """A dry run shows what our manager owns after the apply."""
    before, live = changed("reloader", {HASH: "abc"})
    assert not is_beside(FIELD_MANAGER, None, before, live)


@pytest.mark.contract("B1751")
def test_what_leaves_an_owner_nothing_is_no_addition() -> None:
    """Whether it was removed, or taken over by a third, the way back could not tell."""
    server = serving()
    server.edit(WEB, "restarter", {HASH: "abc"})
    before = read(server)
    server.edit(WEB, "reloader", {HASH: "def"})
    assert not is_beside(FIELD_MANAGER, trial_of(APPLIED), before, read(server))
    server.edit(WEB, "restarter", {"spec.template.metadata.annotations.other": "1"})
    assert is_beside(FIELD_MANAGER, trial_of(APPLIED), before, read(server))


SENT = Body.of({"spec": {"replicas": 2, "template": {"spec": {"containers": []}}}})
KEPT = template("shop/web:1", annotations={RESTARTED_AT: "2026-01-01T00:00:00Z"})
NOTHING_MANAGED = Body.of({"managedFields": []})


def live_with(replicas: int) -> LiveObject:
    """Return a Deployment of the template `KEPT`."""
    spec: dict[str, Any] = {"replicas": replicas, "template": KEPT.body.thaw()}
    workload = deployment(template=KEPT)
    return LiveObject(WEB, "uid", "1", Body.of({"spec": spec}), NOTHING_MANAGED, workload=workload)


def baseline(image: str) -> Fact[Baseline]:
    """Return a baseline of an image."""
    return Known(Baseline("web-1", 1, template(image), "hash"))


@pytest.mark.contract("B1691")
@pytest.mark.parametrize("baseline", [baseline("shop/web:2"), Absent()])
def test_a_workload_is_held_against_the_template_that_was_sent(baseline: Fact[Baseline]) -> None:
    """The rest of it is held against the answer."""
    found = find_sent(baseline, SENT, live_with(5))
    assert found == Body.of({"spec": {"replicas": 5, "template": {"spec": {"containers": []}}}})


@pytest.mark.contract("B1691")
def test_the_template_that_served_is_the_version_before_however_it_was_sent() -> None:
    """The time of a restart is no part of it."""
    assert find_sent(baseline("shop/web:1"), SENT, live_with(5)) is None


@pytest.mark.contract("B143")
def test_another_object_is_held_against_all_that_was_sent() -> None:
    """A ConfigMap has no template."""
    settings = LiveObject(config_ref(), "uid", "1", Body.of({"data": {}}), NOTHING_MANAGED)
    assert find_sent(Absent(), SENT, settings) == SENT


@pytest.mark.contract("B1580")
def test_who_owned_the_number_before_is_not_blamed_for_a_0() -> None:
    """Only a read that shows the 0 shows whose it is, if anybody's name is beside it."""
    server = serving()
    server.edit(WEB, "kubectl-edit", {"spec.replicas": 7})
    assert describe_scaler(server.read(WEB)).startswith("who did it is not known")
    server.edit(WEB, "kubectl-edit", {"spec.replicas": 0})
    assert describe_scaler(server.read(WEB)).startswith("by kubectl-edit")
