"""The way back: what is restored, in which order, and how it is verified."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.attempt.transitions import State
from gate.core.endings.differences import differences
from gate.core.model.body import FrozenMap
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, SaveRecord, Write
from gate.core.protocol.events import (
    AttemptEvent,
    ContactLost,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from tests.unit.core import world
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import (
    STARTED_AT,
    Bent,
    Player,
    ending_of,
    ends,
    going_back,
    planned,
    rejected,
    rolling_out,
    serving,
    unread,
)
from tests.unit.core.recovery.test_resumption import plan_of
from tests.unit.core.server import NOBODY, Server

PRUNE = Policy(response=Response(prune_created=True))


# -- rolled back -----------------------------------------------------------------------------------


@pytest.mark.contract("B133")
def test_configuration_alone_goes_back_where_the_pods_fail_of_it() -> None:
    """The Deployment did not change: it is verified with the configuration that it had: 4."""
    server, policy = serving(config("a")), Policy(budgets=Budgets(bake_seconds=60.0))
    player = Player(server, planned(server, config("b"), manifest("v1"), policy=policy))
    player.pass_to(STARTED_AT + 10.0)
    player.behave("crash", "v1")
    player.run_to(State.RECORDING, Leg.BACK)
    player.behave("good", "v1")
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert [name for _, name in player.written()][2:] == ["configmap/settings"]


@pytest.mark.contract("B1581", "B75")
def test_a_way_back_to_a_0_of_somebodys_is_theirs() -> None:
    """From before its write: the number stays, and no pod shows that what is back works."""
    player = going_back()
    player.server.edit(player.web, NOBODY, {"spec.replicas": 0})
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SCALED_TO_ZERO)
    stored = player.server.stored[player.web]
    assert (stored.image, stored.leaves["spec.replicas"]) == ("shop/web:v1", 0)


@pytest.mark.contract("B134")
def test_what_was_created_goes_last_in_reverse_order() -> None:
    """Behind all that is restored: what uses another object goes before that one."""
    server = serving(config("a"), v2="crash")
    created = [config("x", name) for name in ("first", "second", "third")]
    bodies = (*created, config("b"), manifest("v2"))
    player = Player(server, planned(server, *bodies, policy=PRUNE))
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    restored = [("apply", "configmap/settings"), ("apply", "deployment/web")]
    gone = [("delete", f"configmap/{name}") for name in ("third", "second", "first")]
    assert player.written()[len(bodies) :] == [*restored, *gone]


@pytest.mark.contract("B134")
@pytest.mark.parametrize("manager", ["kubectl-edit", "rollout-gate"])
@pytest.mark.parametrize("data", [{"mode": "x", "theirs": "1"}, {"mode": "theirs"}])
def test_what_others_use_is_not_deleted(manager: str, data: dict[str, str]) -> None:
    """Neither where they added a key, nor where they changed a value of ours."""
    server = serving(v2="crash")
    player = Player(server, planned(server, config("x"), manifest("v2"), policy=PRUNE))
    player.run_to(State.RECORDING, Leg.BACK)
    server.put({**config("x"), "data": data}, manager=manager)
    assert ends(player.run())[0] == 4
    assert ("delete", "configmap/settings") not in player.written()
    leaves = server.stored[world.config_ref()].leaves
    assert leaves["data.theirs" if "theirs" in data else "data.mode"] in ("1", "theirs")
    assert player.attempt.ledger.left_to_others == (world.config_ref(),)
    (said,) = differences(player.attempt)
    assert "again" not in said
    assert data.get("mode") != "x" or "was not deleted: somebody else" in said


def stripped(player: Player, effect: Write) -> AttemptEvent:
    """Remove all managed fields just before our write: `before-first-apply` owns all by then."""
    stored = player.server.stored[effect.ref]
    left = stored.leaves
    stored.parts.clear()
    stored.parts[(NOBODY, "Update")] = left
    stored.version = player.server.version()
    paths = (".data.mode",) if effect.ref.kind == "ConfigMap" else (f".{IMAGE}",)
    text = CleanText('conflict with "before-first-apply"')
    return WriteRejected(player.attempt.now, effect.effect_id, Reason.CONFLICT, text, paths)


@pytest.mark.contract("B149")
def test_owners_that_go_right_before_the_way_back_are_put_back() -> None:
    """Neither is the field left to nobody, nor the template to the version that failed."""
    player = going_back(config("a"))
    server, sent = player.server, len(player.writes)
    player.bend(Write, stripped)
    player.let_pass(Write, times=2)
    player.bend(Write, stripped)
    assert ends(player.run())[0] == 4
    verbs = [(write.verb, write.ref.kind) for write in player.writes[sent:]]
    assert verbs == [
        (verb, kind)
        for kind in ("ConfigMap", "Deployment")
        for verb in (Verb.APPLY, Verb.TAKE_OVER, Verb.APPLY)
    ]
    assert server.stored[world.config_ref()].leaves["data.mode"] == "a"
    assert server.stored[player.web].image == "shop/web:v1"
    assert player.attempt.ledger.dropped == FrozenMap()


@pytest.mark.contract("B149")
def test_owners_are_put_back_once_however_many_tries_it_takes() -> None:
    """A try that was not done is forgotten: it would take over what somebody wrote since."""
    player = going_back()
    ahead: list[int] = []

    def lost(player: Player, effect: Write) -> AttemptEvent:
        queue = player.attempt.writes.queue
        ahead.append(sum(write.verb is Verb.TAKE_OVER for write in queue))
        return WriteUncertain(player.attempt.now, effect.effect_id, "connection reset")

    player.bend(Write, stripped)
    player.bend(Write, lost, times=3)
    assert ends(player.run())[0] == 4
    assert ahead == [1, 1, 1]


@pytest.mark.contract("B1871")
def test_what_stays_is_said_after_the_way_back_is_announced() -> None:
    """Who uses it is known before the record is saved, and before that nothing is announced."""
    server = serving(config("a"), v2="crash")
    player = Player(server, planned(server, config("b"), manifest("v2")))
    player.run_to(State.RECORDING, Leg.BACK)
    player.users = {world.config_ref(): "deployment/api was verified with it"}
    player.hold = (SaveRecord,)
    player.run(at_most=player.attempt.now)
    player.hold = ()
    assert ends(player.run())[0] == 4
    events = [line.event for line in player.said]
    assert [event for event in events if event in ("failed", "rollback", "kept")] == [
        "failed",
        "rollback",
        "kept",
    ]
    assert server.stored[world.config_ref()].leaves["data.mode"] == "b"


def lost_and_stripped(player: Player, effect: Write) -> AttemptEvent:
    """Do the write, lose its answer, and let somebody remove all managed fields at that moment."""
    player.answer(effect)
    stored = player.server.stored[effect.ref]
    stored.parts = {(NOBODY, "Update"): stored.leaves}
    stored.version = player.server.version()
    return WriteUncertain(player.attempt.now, effect.effect_id, "connection reset")


@pytest.mark.contract("B162", "B149")
@pytest.mark.parametrize("only_new", [{}, {"minReadySeconds": 7}])
def test_a_way_back_is_known_as_ours_though_its_owners_are_gone(only_new: dict[str, Any]) -> None:
    """What this run's own write brought back is not what somebody else applied."""
    server = serving(v2="crash")
    player = Player(server, planned(server, manifest("v2", **only_new)))
    player.run_to(State.RECORDING, Leg.BACK)
    player.bend(Write, lost_and_stripped)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert server.stored[player.web].image == "shop/web:v1"
    assert player.attempt.interference.departures == FrozenMap()
    assert player.web in player.attempt.ledger.restored


@pytest.mark.contract("B162", "B149")
def test_another_version_without_owners_is_somebody_elses() -> None:
    """The answer was lost, and what is there is neither version of this run."""
    player = going_back()

    def replaced(player: Player, effect: Write) -> AttemptEvent:
        event = lost_and_stripped(player, effect)
        player.server.edit(effect.ref, NOBODY, {IMAGE: "shop/web:v9"})
        return event

    player.bend(Write, replaced)
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)


def beaten_by(manager: str, body: dict[str, Any]) -> Bent:
    """Let somebody create an object between the dry run and our write of it."""

    def beaten(player: Player, effect: Write) -> AttemptEvent:
        player.server.put(body, manager=manager)
        return player.answer(effect)

    return beaten


@pytest.mark.contract("B129")
def test_what_another_gate_created_with_more_in_it_keeps_that() -> None:
    """Our manager owns all of it: an apply that leaves out a key of the other run removes it."""
    server = serving(v2="crash")
    player = Player(server, plan_of(server, config("x"), manifest("v2")))
    theirs = {**config("x"), "data": {"mode": "x", "theirs": "1"}}
    player.bend(Write, beaten_by("rollout-gate", theirs))
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert server.stored[world.config_ref()].leaves["data.theirs"] == "1"


@pytest.mark.contract("B134", "B129")
def test_what_our_apply_merged_into_is_given_back() -> None:
    """A server that merges all the same answers 200: what we alone own goes, the rest stays."""
    server = serving(v2="crash")
    server.merges_creations = True
    player = Player(server, planned(server, config("x"), manifest("v2"), policy=PRUNE))
    theirs = {**config("x"), "data": {"theirs": "1"}}
    player.bend(Write, beaten_by("kubectl-create", theirs))
    assert ends(player.run())[0] == 4
    leaves = server.stored[world.config_ref()].leaves
    assert {path for path in leaves if path.startswith("data.")} == {"data.theirs"}
    assert not player.attempt.ledger.written[world.config_ref()].created


@pytest.mark.contract("B134", "B129")
@pytest.mark.parametrize("on_first_failure", OnFirstFailure)
def test_a_deployment_that_our_apply_merged_into_is_theirs(
    on_first_failure: OnFirstFailure,
) -> None:
    """It is neither deleted nor scaled, and ends with 8."""
    server = Server(v2="crash")
    server.merges_creations = True
    policy = Policy(response=Response(on_first_failure=on_first_failure))
    player = Player(server, planned(server, manifest("v2"), policy=policy))
    player.bend(Write, beaten_by("kubectl-create", manifest("v2")))
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    stored = server.stored[player.web]
    assert not stored.parts[("rollout-gate", "Apply")]
    assert stored.leaves["spec.replicas"] == manifest("v2")["spec"]["replicas"]


# -- not rolled back -------------------------------------------------------------------------------


@pytest.mark.contract("B25", "B95")
def test_a_quota_on_the_way_back_is_waited_for() -> None:
    """It is free again once the new pods are gone: there is nothing else to turn to."""
    player = going_back()
    player.behave("over-quota", "v1")
    player.run_to(State.FOLLOWING, Leg.BACK)
    player.pass_to(STARTED_AT + 400.0)
    assert player.place == (Leg.BACK, State.FOLLOWING)
    player.behave("good", "v1")
    player.server.control(player.web)
    player.news()
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)


@pytest.mark.contract("B136")
def test_what_existed_is_never_deleted_for_want_of_a_baseline() -> None:
    """`--on-first-failure delete` is about what this attempt made."""
    server = serving(v1="crash", v2="crash")
    policy = Policy(response=Response(on_first_failure=OnFirstFailure.DELETE))
    player = Player(server, planned(server, manifest("v2"), policy=policy))
    server.behaviour["shop/web:v1"] = "crash"
    assert ends(player.run())[0] == 6
    assert len(player.writes) == 1


@pytest.mark.contract("B135")
def test_a_pause_that_is_refused_is_no_failed_rollback() -> None:
    """Nothing was to go back: 6, with the refusal among the causes."""
    player = going_back(policy=Policy(response=Response(on_failure=OnFailure.PAUSE)))
    player.bend(Write, lambda p, e: rejected(p, e, Reason.FORBIDDEN))
    attempt = player.run()
    assert ends(attempt)[0] == 6
    assert ending_of(attempt).causes[-1].reason is Reason.FORBIDDEN


@pytest.mark.contract("B101")
def test_a_failure_that_cleared_before_it_was_confirmed_goes_on() -> None:
    """The confirming read shows pods that became ready: no rollback."""
    player = rolling_out(v2="crash")
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    player.server.behaviour["shop/web:v2"] = "good"
    player.server.control(player.web)
    list(player.server.news(0.0))
    player.hold = ()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert len(player.writes) == 1
    assert "refuted" in [line.event for line in player.said]


# -- somebody else's, on the way back --------------------------------------------------------------


@pytest.mark.contract("B139")
def test_who_brought_it_back_is_named_beside_a_first_deployment_that_is_kept() -> None:
    """The one that goes back is all that is followed; the other is not somebody else's."""
    server = serving(v2="crash", v3="stuck")
    player = Player(server, planned(server, manifest("v2"), manifest("v3", "api")))
    player.run_to(State.RECORDING, Leg.BACK)
    player.control = False
    player.run_to(State.FOLLOWING, Leg.BACK)
    server.edit(player.web, "argocd-controller", {IMAGE: "shop/web:v2"})
    player.news()
    attempt = player.run()
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.GITOPS_REVERTED)
    assert "argocd-controller" in attempt.result.endings[player.web].message


@pytest.mark.contract("B27", "B124")
@pytest.mark.parametrize("sees", ["watch", "read"])
def test_configuration_does_not_go_back_under_somebody_elses_version(sees: str) -> None:
    """A change since the decision, watched or read where that is a while ago: nothing follows."""
    player = going_back(config("a"), config("a", "more"))
    sent = len(player.writes)
    if sees == "read":
        player.hold = (SaveRecord,)
        player.pass_to(player.attempt.now + 5.0)
        player.hold = ()
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    if sees == "watch":
        player.news()
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.writes[sent:] == []
    assert player.server.stored[world.config_ref()].leaves["data.mode"] == "b"


# -- bounds ----------------------------------------------------------------------------------------

BOUNDED = Policy(budgets=Budgets(timeout_seconds=300.0, rollback_timeout_seconds=120.0))


@pytest.mark.contract("B163")
@pytest.mark.parametrize("hold", [SaveRecord, Write, Read], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("contact", [True, False], ids=["contact", "no-contact"])
def test_the_way_back_ends_within_its_bounds(hold: type[Any], contact: bool) -> None:
    """An answer that never comes ends with 5, or 9 where contact is lost, 10 s late at most."""
    player = going_back(policy=BOUNDED)
    player.hold = (hold,)
    if not contact:
        player.hear(ContactLost(player.attempt.now, "connection refused"))
    assert ends(player.run())[0] == (5 if contact else 9)
    assert player.attempt.now <= STARTED_AT + 120.0 + 10.0


@pytest.mark.contract("B115")
def test_a_rollback_that_cannot_be_read_is_not_called_verified() -> None:
    """Unknown at the end is 5."""
    player = going_back(policy=BOUNDED)

    player.bend(Read, unread, times=1000)
    assert ends(player.run())[0] == 5


@pytest.mark.contract("B163")
def test_overtime_is_granted_once() -> None:
    """Confirmed 6 s after the total, the rollback's own 6 s are gone: 10 s late in all."""
    player = rolling_out(policy=BOUNDED, v2="crash")
    player.behave("stuck")
    player.hold = (Read,)
    player.pass_to(STARTED_AT + 306.0)
    player.hold = ()
    player.run_to(State.RECORDING, Leg.BACK)
    player.hold = (SaveRecord,)
    assert ends(player.run())[0] == 5
    assert player.attempt.now <= STARTED_AT + 300.0 + 120.0 + 10.0
