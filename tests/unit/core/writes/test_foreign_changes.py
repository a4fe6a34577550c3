"""Fields that others changed since our apply: they stand, and all the others return."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Write
from gate.report.document.remarks import remarks
from tests.unit.core import world
from tests.unit.core.leaves import IMAGE, Leaves, manifest
from tests.unit.core.player import Player, ends, lost, planned
from tests.unit.core.recovery.test_resumption import Dying, finished, plan_of, resumed
from tests.unit.core.server import Server

BACK = (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
BEFORE = {"mode": "one", "level": "1", "gone": "x"}
AFTER = {"mode": "two", "level": "2", "new": "y"}


def settings(data: dict[str, str]) -> dict[str, Any]:
    """Return a ConfigMap."""
    metadata = {"name": "settings", "namespace": world.NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def served() -> Server:
    """Return a server that runs v1 with its configuration."""
    server = Server(v2="crash")
    for body in (settings(BEFORE), manifest("v1")):
        server.put(body)
    return server


def failed() -> Player:
    """Return an attempt that is about to go back."""
    server = served()
    player = Player(server, planned(server, settings(AFTER), manifest("v2")))
    player.run_to(State.RECORDING, Leg.BACK)
    return player


def data_of(server: Server) -> Leaves:
    """Return the data of the ConfigMap."""
    leaves = server.stored[world.config_ref()].leaves
    return {path.removeprefix("data."): value for path, value in leaves.items()}


@pytest.mark.contract("B140")
def test_a_key_that_only_the_failed_version_had_goes_unless_somebody_changed_it() -> None:
    """Theirs stays, and is named."""
    player = failed()
    player.server.edit(world.config_ref(), "them", {"data.new": "9"})
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**BEFORE, "new": "9"}
    assert dict(player.attempt.ledger.dropped_paths) == {world.config_ref(): (".data.new",)}


@pytest.mark.contract("B132")
def test_a_key_that_another_run_of_the_gate_added_stays() -> None:
    """It is our manager's, and an apply without it would remove it; all the others return."""
    player = failed()
    player.server.put(settings({**AFTER, "theirs": "9"}))
    attempt = player.run()
    assert ends(attempt) == BACK
    assert data_of(player.server) == {**BEFORE, "theirs": "9"}
    assert dict(attempt.ledger.kept_paths) == {world.config_ref(): (".data.theirs",)}
    [warning] = [line for line in remarks(attempt) if "kept" in line]
    assert ".data.theirs of configmap/settings" in warning


@pytest.mark.contract("B132", "B140")
def test_a_value_that_another_run_of_the_gate_changed_is_left() -> None:
    """An apply under the same name cannot leave one field: the object stays as that run has it."""
    player = failed()
    player.server.put(settings({**AFTER, "level": "9", "theirs": "9"}))
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**AFTER, "level": "9", "theirs": "9"}
    assert player.attempt.ledger.left_alone == (world.config_ref(),)


@pytest.mark.contract("B132")
def test_recover_keeps_what_another_run_of_the_gate_added() -> None:
    """What the record expected of our write tells what came after it."""
    server = served()
    player = Dying(server, plan_of(server, settings(AFTER), manifest("v2")))
    player.run(lambda _: len(player.server.done) == len(AFTER) - 1)
    assert player.record is not None
    server.put(settings({**AFTER, "theirs": "9"}))
    finished(server, player.record)
    assert data_of(server) == {**BEFORE, "theirs": "9"}


@pytest.mark.contract("B140")
def test_a_key_that_somebody_removed_does_not_come_back() -> None:
    """The removal is a change of theirs as any other."""
    player = failed()
    ref = world.config_ref()
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
        p.server.edit(world.config_ref(), "them", {"data.level": "9"})
        return answer

    player.bend(Write, lost_then_changed)
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**BEFORE, "level": "9"}


@pytest.mark.contract("B140", "B124")
def test_another_run_of_our_own_is_left_alone_as_a_whole() -> None:
    """What our manager still owns would be removed by leaving it out."""
    player = failed()
    player.server.put(settings({**AFTER, "level": "9"}))
    assert ends(player.run()) == BACK
    assert data_of(player.server) == {**AFTER, "level": "9"}
    assert player.attempt.ledger.left_alone == (world.config_ref(),)


@pytest.mark.contract("B140", "B533")
def test_recover_leaves_the_foreign_key_and_returns_the_others() -> None:
    """The record tells what our write had left."""
    server = served()
    server.behaviour["shop/web:v2"] = "stuck"
    dying = Dying(server, plan_of(server, settings(AFTER), manifest("v2")))
    assert dying.die_after(3)
    assert data_of(server) == AFTER
    assert dying.record is not None
    server.edit(world.config_ref(), "them", {"data.level": "9"})
    assert finished(server, dying.record).attempt.exit_code == 4
    assert data_of(server) == {**BEFORE, "level": "9"}


@pytest.mark.contract("B532", "B533")
def test_recover_has_nothing_to_do_where_nothing_was_written() -> None:
    """A key that somebody changed before the first write makes no attempt of it."""
    server = served()
    dying = Dying(server, plan_of(server, settings(AFTER), manifest("v2")))
    assert dying.die_after(1)
    assert dying.record is not None
    server.edit(world.config_ref(), "them", {"data.level": "9"})
    assert resumed(server, dying.record) is None


def forced(server: Server) -> Player:
    """Return an attempt that took the image by force, about to go back."""
    server.edit(world.WEB, "kubectl-set", {IMAGE: "shop/web:hotfix"})
    server.control(world.WEB)
    plan = planned(server, manifest("v2"), force=True)
    player = Player(server, plan)
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
