"""Writes, out and back: each decided when sent, read again after a conflict or a lost answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.replica_ownership import REPLICAS_PATH, Scaler, without_replicas
from gate.core.plan.target_set import TargetSet
from gate.core.protocol.effects import Asking, Read, Write
from gate.core.protocol.events import (
    AttemptEvent,
    ReadBack,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.policy import Budgets, OnFirstFailure, Policy, Response
from gate.report.document.remarks import remarks
from tests.unit.core import world
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import (
    STARTED_AT,
    Player,
    conflicted,
    ending_of,
    ends,
    going_back,
    lost,
    planned,
    rejected,
    rolling_out,
    serving,
)
from tests.unit.core.server import NOBODY, Server

# -- on the way out --------------------------------------------------------------------------------


@pytest.mark.contract("B126")
def test_a_conflict_of_the_version_is_read_again_and_decided_again() -> None:
    """The controller writes status all the time: twenty in a row are no failure."""
    player = rolling_out()

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        player.server.touch(effect.ref)
        return conflicted(player, effect)

    player.bend(Write, conflict, times=20)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert len(player.writes) == 21
    assert player.writes[-1].resource_version != player.writes[0].resource_version
    assert len(player.asked(Read)) == 21


@pytest.mark.contract("B1804")
def test_a_conflict_over_an_object_that_stays_the_same_is_read_again_later() -> None:
    """No sooner than the pause says, and nothing is said to have changed or to be unknown."""
    player = rolling_out()
    sent: list[float] = []

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        sent.append(player.attempt.now)
        return WriteConflicted(player.attempt.now, effect.effect_id, pause_seconds=4.0)

    player.bend(Write, conflict)
    attempt = player.run(lambda attempt: bool(attempt.ledger.written))
    assert attempt.now >= sent[0] + 4.0
    assert len(player.writes) == 2
    assert not attempt.writes.uncertain
    said = "deployment/web: the server answered 409 Conflict; reading again"
    assert player.lines("retry") == [said]


@pytest.mark.contract("B1804")
def test_the_pause_after_a_conflict_ends_with_the_budget() -> None:
    """The run is over in its time, however long the pause."""
    player = rolling_out(policy=Policy(budgets=Budgets(timeout_seconds=60.0)))

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        return WriteConflicted(player.attempt.now, effect.effect_id, pause_seconds=1000.0)

    player.bend(Write, conflict)
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.TIMEOUT)
    assert player.attempt.now <= STARTED_AT + 70.0


@pytest.mark.contract("B67")
def test_a_change_since_the_preflight_refuses_the_first_write() -> None:
    """Somebody's hot fix in the meantime must not vanish unseen: 3, nothing written."""
    player = rolling_out()
    player.server.edit(player.web, "kubectl-edit", {IMAGE: "shop/web:hotfix"})
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert len(player.writes) == 1


@pytest.mark.contract("B72", "B67")
@pytest.mark.parametrize("uncertain", [False, True])
def test_a_scale_to_zero_since_the_preflight_refuses_the_write(*, uncertain: bool) -> None:
    """Nobody owns the 0 then, so the server has no conflict: it stands, and the end is 3."""
    player = rolling_out()
    if uncertain:
        player.bend(Write, partial(lost, done=False))
    player.server.edit(player.web, NOBODY, {"spec.replicas": 0})
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.CONFLICT)
    assert player.server.stored[player.web].leaves["spec.replicas"] == 0
    assert len(player.writes) == 1


@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_deleted_since_the_preflight_refuses_the_first_write(again: bool) -> None:
    """It is not made again: 3, nothing written."""
    player = rolling_out()
    player.server.remove(player.web)
    if again:
        player.server.put(manifest("v1"), "kubectl")
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.DELETED)


@pytest.mark.parametrize("manager", ["kubectl", "rollout-gate"])
@pytest.mark.parametrize("answer", ["conflict", "lost"])
def test_made_by_somebody_else_since_the_preflight_refuses_too(manager: str, answer: str) -> None:
    """A name that was free is not: what stands there is not ours, but for our own lost write."""
    server = Server()
    plan = planned(server, config("a"))
    server.put({**config("a"), "data": {"other": "b"}}, manager)
    player = Player(server, plan)
    if answer == "lost":
        player.bend(Write, lambda p, effect: lost(p, effect, done=False))
    else:
        player.bend(Write, conflicted)
    refused = manager == "kubectl" or answer == "conflict"
    end = (3, Outcome.REFUSED, Reason.CONFLICT)
    assert ends(player.run()) == (end if refused else (0, Outcome.APPLIED, Reason.COMPLETE))


@pytest.mark.contract("B162")
@pytest.mark.parametrize("done", [True, False])
def test_a_write_whose_answer_was_lost_is_read_back_first(done: bool) -> None:
    """What is there already is not sent again, what is not is: one revision either way."""
    player = rolling_out()
    player.bend(Write, partial(lost, done=done))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert [type(effect) for effect in player.sent[1:3]] == [Write, Read]
    assert len(player.writes) == (1 if done else 2)
    assert player.writes[-1].resource_version is not None
    assert player.server.stored[player.web].revision == 2


@pytest.mark.contract("B162")
@pytest.mark.parametrize("done", [True, False])
def test_what_somebody_deleted_after_a_lost_answer_is_theirs(done: bool) -> None:
    """8, whether ours was done before or never: it is not made again."""
    player = rolling_out()

    def overtaken(p: Player, effect: Write) -> AttemptEvent:
        answer = lost(p, effect, done=done)
        p.server.remove(p.web)
        return answer

    player.bend(Write, overtaken)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert player.web not in player.server.stored


@pytest.mark.contract("B162")
def test_a_read_from_before_our_own_write_is_asked_again() -> None:
    """A server that is behind shows what was there before: nobody's change, and no verdict."""
    player = rolling_out()
    before = player.server.read(player.web)
    assert before is not None
    fact = Known(before)

    def behind(p: Player, effect: Read) -> AttemptEvent:
        return ReadBack(p.attempt.now, effect.effect_id, fact, (), ())

    player.bend(Read, behind, times=2)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 2.0


@pytest.mark.contract("B129", "B162")
def test_a_200_after_a_lost_answer_does_not_say_who_created_it() -> None:
    """It may be about what our own first try has made, or another run's: it stays."""
    server = serving(v2="crash")
    server.merges_creations = True
    bodies = (config("a"), manifest("v2"))
    player = Player(
        server, planned(server, *bodies, policy=Policy(response=Response(prune_created=True)))
    )
    player.bend(Write, partial(lost, done=False))

    def landed(player: Player, effect: Write) -> AttemptEvent:
        player.server.put(config("a"), manager="rollout-gate")
        return player.answer(effect)

    player.bend(Write, landed)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert player.attempt.ledger.written[world.config_ref()].creator_unknown
    assert world.config_ref() in server.stored


@pytest.mark.contract("B129", "B134")
@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("kind", ["ConfigMap", "Deployment"])
def test_what_another_run_created_as_the_answer_was_lost_is_not_deleted(
    kind: str, done: bool
) -> None:
    """It asks for the same under the same name: only the answer 201 tells them apart."""
    server = Server(v2="crash")
    policy = Policy(response=Response(prune_created=True, on_first_failure=OnFirstFailure.DELETE))
    player = Player(server, planned(server, config("x"), manifest("v2"), policy=policy))

    def raced(player: Player, effect: Write) -> AttemptEvent:
        answer = lost(player, effect, done=done)
        if done:
            del player.server.stored[effect.ref]
        player.server.put(effect.body.thaw(), manager="rollout-gate")
        return answer

    if kind == "Deployment":
        player.let_pass(Write)
    player.bend(Write, raced)
    attempt = player.run()
    there = {ref.kind for ref in server.stored}
    assert kind in there, ends(attempt)
    (said,) = [line for line in remarks(attempt) if "was not deleted" in line]
    assert kind.lower() in said
    claims = [one.message for one in player.said if one.message.endswith(" created")]
    assert not any(kind.lower() in line for line in claims)


@pytest.mark.contract("B518")
def test_a_write_is_not_sent_again_before_the_server_wants_it() -> None:
    """Nor is it read: the server is left alone for as long as it has asked for."""
    player = rolling_out()
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "429", 7.0))
    for kind in (Read, Write):
        player.bend(kind, lambda p, e: answered_from(STARTED_AT + 7.0, p, e))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert len(player.writes) == 2


def answered_from(at: float, player: Player, effect: Asking) -> AttemptEvent:
    """Let the server answer, which is not asked before."""
    assert player.attempt.now >= at
    return player.answer(effect)


@pytest.mark.contract("B32", "B162")
@pytest.mark.parametrize(
    ("done", "end", "mode"),
    [
        (True, (0, Outcome.APPLIED, Reason.COMPLETE), "b"),
        (False, (3, Outcome.REFUSED, Reason.REJECTED), "a"),
    ],
)
def test_written_unseen_is_done_and_not_asked_for_again(
    done: bool, end: tuple[int, Outcome, Reason], mode: str
) -> None:
    """A server that would refuse it now is asked only where it was not done."""
    server = Server()
    server.put(config("a"))
    player = Player(server, planned(server, config("b")))
    player.bend(Write, partial(lost, done=done))
    player.bend(Write, rejected)
    assert ends(player.run()) == end
    assert server.stored[world.config_ref()].leaves["data.mode"] == mode


# -- on the way back -------------------------------------------------------------------------------


@pytest.mark.contract("B125", "B126")
def test_the_rollback_meets_conflicts_as_the_apply_does() -> None:
    """Read again, decided again, each with the uid and the version that was read."""
    player = going_back()
    player.bend(Write, conflicted, times=20)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    assert all(write.uid and write.resource_version for write in player.writes)


@pytest.mark.contract("B27", "B124")
@pytest.mark.parametrize("seen", ["watch", "conflict", "lost-answer"])
def test_superseded_between_verdict_and_rollback_is_not_written_to(seen: str) -> None:
    """Whether a watch tells, or only the read after a conflict: no write, 8."""
    player = going_back()
    ref = player.web
    player.server.edit(ref, "kubectl-set", {IMAGE: "shop/web:v9"})
    if seen == "watch":
        player.news()
    if seen == "lost-answer":
        player.bend(Write, partial(lost, done=False))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.server.stored[ref].image == "shop/web:v9"
    assert len(player.writes) == (1 if seen == "watch" else 2)


@pytest.mark.contract("B127")
@pytest.mark.parametrize("seen", ["watch", "conflict", "refusal"])
@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_deleted_between_verdict_and_rollback_is_not_made_again(seen: str, again: bool) -> None:
    """However it is learned: `Deleted`, 8, and nothing is created."""
    player = going_back()
    ref = player.web
    player.server.remove(ref)
    if again:
        player.server.put(manifest("v2"), "kubectl")
    if seen == "watch":
        player.news()
    if seen == "refusal":
        player.bend(Write, rejected)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert (ref in player.server.stored) is again


@pytest.mark.contract("B75")
def test_a_number_of_replicas_that_nobody_else_owns_stays_on_the_way_back() -> None:
    """As after `kubectl scale --replicas=0`: there is no conflict that keeps the rollback off."""
    player = going_back()
    player.server.edit(player.web, FIELD_MANAGER, {"spec.replicas": 9})
    player.run()
    assert player.writes[-1].body.thaw()["spec"]["replicas"] == 9
    assert player.server.stored[player.web].leaves["spec.replicas"] == 9


def autoscaled(leg: Leg, before: dict[str, Any]) -> Player:
    """Return an attempt whose next write sends the live number, and that goes back to `before`."""
    server = serving(v2="crash")
    plan = planned(server, manifest("v2"), scaler=Scaler.AUTOSCALER)
    target_set = TargetSet(FrozenMap({world.WEB: Body.of(before)}))
    player = Player(server, replace(plan, target_set=target_set))
    if leg is Leg.BACK:
        player.run_to(State.RECORDING, leg)
    return player


def about_replicas(player: Player, effect: Write) -> AttemptEvent:
    """Refuse a write for its number of replicas."""
    now, text = player.attempt.now, CleanText("no number pleases")
    return WriteRejected(now, effect.effect_id, Reason.CONFLICT, text, (REPLICAS_PATH,))


@pytest.mark.contract("B1587")
@pytest.mark.parametrize("leg", Leg)
def test_a_live_number_that_somebody_changes_before_its_write_is_theirs(leg: Leg) -> None:
    """By an autoscaler, or `kubectl scale`: it keeps no write from being done."""
    player = autoscaled(leg, without_replicas(manifest("v1")))

    def scale(player: Player, effect: Write) -> AttemptEvent:
        player.server.edit(effect.ref, "kubectl", {"spec.replicas": 9})
        return about_replicas(player, effect)

    player.bend(Write, scale)
    assert ends(player.run())[:2] == (4, Outcome.ROLLED_BACK)
    stored = player.server.stored[player.web]
    assert (stored.image, stored.leaves["spec.replicas"]) == ("shop/web:v1", 9)
    assert "replicas" not in player.writes[-1].body.thaw()["spec"]


@pytest.mark.contract("B1617")
@pytest.mark.parametrize("leg", Leg)
def test_a_live_number_that_is_refused_although_nobody_changed_it_ends_that(leg: Leg) -> None:
    """Whatever refuses it, as a webhook: the same request again would be refused again."""
    player = autoscaled(leg, manifest("v1"))
    sent = len(player.writes)
    player.bend(Write, about_replicas, times=10)
    attempt = player.run()
    assert len(player.writes) - sent <= 2, "it is sent again without end"
    assert attempt.exit_code == (3 if leg is Leg.FORWARD else 5), ends(attempt)


@pytest.mark.contract("B140")
def test_a_field_of_others_inside_the_template_is_5() -> None:
    """The template cannot be restored in part; the cause names the conflict."""
    player = going_back()

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        paths = (f".{IMAGE}", ".spec.replicas")
        now, number = player.attempt.now, effect.effect_id
        return WriteRejected(now, number, Reason.CONFLICT, CleanText("conflict with x"), paths)

    player.bend(Write, conflict)
    attempt = player.run()
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)
    assert ending_of(attempt).causes[-1].reason is Reason.CONFLICT
