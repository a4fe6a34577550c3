"""Writes that are refused for good, or get no clear answer, and what a read shows of them."""

from __future__ import annotations

import signal
from dataclasses import replace
from functools import partial

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import AttemptEvent, Interrupted, Woke, WriteUncertain
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from gate.core.writes.order import answers_lost
from tests.unit.core import world
from tests.unit.core.leaves import IMAGE, config, manifest, ref_of
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
    unread,
)
from tests.unit.core.server import Server


def assert_mode(player: Player, mode: str) -> None:
    """Assert what the configuration says in the end."""
    assert player.server.stored[world.config_ref()].leaves["data.mode"] == mode


@pytest.mark.contract("B32")
def test_rejected_after_others_and_no_way_back_is_5() -> None:
    """The way back is refused as well: a mixture."""
    player = rolling_out(config("a"))
    player.let_pass(Write)
    player.bend(Write, rejected, times=2)
    assert ends(player.run()) == (5, Outcome.ROLLBACK_FAILED, Reason.APPLY_REJECTED)


@pytest.mark.contract("B32")
def test_rejected_after_others_where_nothing_goes_back_leaves_the_rest_unwritten() -> None:
    """Whoever only observes keeps what was written; each Deployment says why it was not."""
    server = serving(config("a"), manifest("v1", "api"))
    bodies = (config("b"), manifest("v2"), manifest("v2", "api"))
    player = Player(server, planned(server, *bodies, policy=Policy(observe=True)))
    player.let_pass(Write)
    player.bend(Write, rejected)
    assert ends(player.run()) == (0, Outcome.OBSERVED, Reason.APPLY_REJECTED)
    assert [write.ref.name for write in server.done] == ["settings"]
    said = {ref.name: one.message for ref, one in player.attempt.result.endings.items()}
    ended = "the writing ended at deployment/web: no"
    assert said == {"web": "it was not written: no", "api": f"it was not written, since {ended}"}
    assert {one.outcome for one in player.attempt.result.endings.values()} == {Outcome.REFUSED}


NEW_ONES = (manifest("v1", "api"), manifest("v1", "zone"))


@pytest.mark.contract("B32", "B39")
@pytest.mark.parametrize(
    ("response", "api"),
    [
        (Response(), Outcome.INCONCLUSIVE),
        (Response(prune_created=True), Outcome.ROLLED_BACK),
        (Response(on_first_failure=OnFirstFailure.DELETE), Outcome.ROLLED_BACK),
        (Response(on_first_failure=OnFirstFailure.SCALE_TO_ZERO), Outcome.INCONCLUSIVE),
    ],
    ids=["left", "pruned", "deleted", "scaled-to-zero"],
)
def test_new_deployments_do_not_decide_whether_what_was_before_is_back(
    response: Response, api: Outcome
) -> None:
    """The old one goes back: 4. One that was created stays or goes, one was never written."""
    server = serving(config("a"))
    bodies = (config("b"), manifest("v2"), *NEW_ONES)
    player = Player(server, planned(server, *bodies, policy=Policy(response=response)))
    player.let_pass(Write, times=3)
    player.bend(Write, rejected)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    outcomes = {ref.name: one.outcome for ref, one in player.attempt.result.endings.items()}
    assert outcomes == {"web": Outcome.ROLLED_BACK, "api": api, "zone": Outcome.REFUSED}
    stays = api is Outcome.INCONCLUSIVE
    assert (ref_of(NEW_ONES[0]) in server.stored) is stays


@pytest.mark.contract("B32", "B27")
@pytest.mark.parametrize("readable", [True, False])
def test_a_deployment_that_somebody_created_meanwhile_is_theirs(readable: bool) -> None:
    """Its refusal is looked into before anything is said; what cannot be read was refused: 4."""
    server = Server()
    server.put(config("a"))
    player = Player(server, planned(server, config("b"), manifest("v2")))

    def created(player: Player, effect: Write) -> AttemptEvent:
        player.server.put(manifest("v3"), "kubectl-client-side-apply")
        return rejected(player, effect, Reason.CONFLICT)

    player.let_pass(Write)
    player.bend(Write, created)
    if not readable:
        player.bend(Read, unread)
    end = (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    unknown = (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert ends(player.run()) == (end if readable else unknown)
    assert_mode(player, "a")


@pytest.mark.contract("B32")
@pytest.mark.parametrize("on_failure", [OnFailure.KEEP, OnFailure.PAUSE])
def test_a_part_of_an_apply_is_no_version_to_keep(on_failure: OnFailure) -> None:
    """What was written goes back, also where a version that fails would be kept or paused."""
    player = rolling_out(config("a"), policy=Policy(response=Response(on_failure=on_failure)))
    player.let_pass(Write)
    player.bend(Write, rejected)
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert_mode(player, "a")


@pytest.mark.contract("B32", "B127")
def test_a_deployment_that_is_deleted_before_its_write_is_gone() -> None:
    """The ConfigMap goes back, and nobody is told that the version before runs: 8."""
    player = rolling_out(config("a"))

    def deleted(player: Player, effect: Write) -> AttemptEvent:
        player.server.remove(effect.ref)
        return rejected(player, effect)

    player.let_pass(Write)
    player.bend(Write, deleted)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert_mode(player, "a")


@pytest.mark.contract("B32", "B127")
def test_a_deployment_that_was_made_again_as_it_was_is_somebody_elses() -> None:
    """By its uid: what served before went with the first one, and ours is not sent over it."""
    player = rolling_out(config("a"))
    player.run(lambda attempt: world.config_ref() in attempt.ledger.written)
    player.server.remove(world.WEB)
    player.server.put(manifest("v1"))
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)
    assert player.server.stored[world.WEB].image == "shop/web:v1"
    assert_mode(player, "a")


def test_conflicts_beyond_the_budget_take_back_what_was_written() -> None:
    """A write that never gets through is given up with the budget, not with the contact."""
    player = rolling_out(config("a"), policy=Policy(budgets=Budgets(timeout_seconds=60.0)))

    def conflict(player: Player, effect: Write) -> AttemptEvent:
        if player.attempt.course.leg is Leg.BACK or effect.ref.kind == "ConfigMap":
            return player.answer(effect)
        player.hear(Woke(player.attempt.now + 1.0))
        return conflicted(player, effect)

    player.bend(Write, conflict, times=1000)
    attempt = player.run()
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)
    assert attempt.result.why_back is not None
    assert attempt.result.why_back.causes[0].reason is Reason.TIMEOUT


def taking_over(server: Server, ref: Ref, image: str, *more: PlannedWrite) -> Player:
    """Begin to apply over what `kubectl apply` made, taking its fields over first."""
    plan = planned(server, manifest(image))
    body = Body.of({"managedFields": [{"manager": "rollout-gate", "operation": "Apply"}]})
    over = PlannedWrite(ref, Verb.TAKE_OVER, body)
    return Player(server, replace(plan, writes=(over, *plan.writes, *more)))


@pytest.mark.contract("B62")
@pytest.mark.parametrize("taken", [True, False])
def test_a_refusal_after_the_take_over_says_that_ownership_moved(taken: bool) -> None:
    """It changes nothing that runs, so it is 3 all the same."""
    server = Server()
    player = taking_over(server, server.put(manifest("v1"), "kubectl-client-side-apply"), "v2")
    if taken:
        player.let_pass(Write)
    player.bend(Write, rejected)
    attempt = player.run()
    assert ends(attempt) == (3, Outcome.REFUSED, Reason.REJECTED)
    assert ("taken over" in ending_of(attempt).message) is taken


def test_a_take_over_that_conflicts_takes_the_fields_as_they_are_by_then() -> None:
    """Another manager that came in between keeps what it owns."""
    server = Server()
    ref = server.put(manifest("v1"), "kubectl-client-side-apply")
    player = taking_over(server, ref, "v2")
    server.edit(ref, "labeller", {"metadata.labels.team": "shop"})
    assert ends(player.run())[0] == 0
    sent = [one for one in player.writes if one.verb is Verb.TAKE_OVER]
    managers = [[e["manager"] for e in one.body.thaw()["managedFields"]] for one in sent]
    assert managers == [["rollout-gate"], ["rollout-gate", "labeller"]]
    assert ("labeller", "Update") in server.stored[ref].parts


@pytest.mark.contract("B30")
def test_a_second_write_is_not_sent_to_what_somebody_else_has_taken_over() -> None:
    """Superseded between apply and resume: its sibling alone is written on."""
    server = serving(manifest("v1", "api"))
    resume = PlannedWrite(world.WEB, Verb.MERGE, Body.of({"spec": {"paused": False}}))
    plan = planned(server, manifest("v2"), manifest("v2", "api"))
    web, api = plan.writes
    player = Player(server, replace(plan, writes=(web, resume, api)))

    def overtaken(player: Player, effect: Write) -> AttemptEvent:
        player.server.edit(effect.ref, "kubectl-set", {IMAGE: "shop/web:v9"})
        return player.answer(effect)

    player.let_pass(Write)
    player.bend(Write, overtaken)
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.written() == [("apply", "deployment/web"), ("apply", "deployment/api")]


BACK = (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)


@pytest.mark.contract("B162", "B1700")
def test_each_write_back_that_a_read_shows_is_sent_once() -> None:
    """Of the configuration as of the Deployment, and what was before is verified."""
    player = going_back(config("a"))
    sent = len(player.writes)
    player.bend(Write, partial(lost, done=True), times=20)
    assert ends(player.run()) == BACK
    assert [write.ref.kind for write in player.writes[sent:]] == ["ConfigMap", "Deployment"]
    assert {player.web, world.config_ref()} == set(player.attempt.ledger.restored)


@pytest.mark.contract("B162", "B1700")
def test_a_write_back_that_no_read_shows_is_sent_again() -> None:
    """With the version that was read; an earlier request that comes late is refused for its own."""
    player = going_back(config("a"))
    sent = len(player.writes)
    player.bend(Write, partial(lost, done=False), times=2)
    player.bend(Write, partial(lost, done=True), times=2)
    assert ends(player.run()) == BACK
    kinds = [write.ref.kind for write in player.writes[sent:]]
    assert kinds == ["ConfigMap", "ConfigMap", "ConfigMap", "Deployment"]


@pytest.mark.contract("B1700")
@pytest.mark.parametrize("done", [True, False])
def test_a_template_that_never_changed_shows_nothing(*, done: bool) -> None:
    """The way out changed another field alone: that has to be seen back."""
    server = serving(config("a"))
    body = manifest("v1", minReadySeconds=7)
    policy = Policy(budgets=Budgets(bake_seconds=60.0))
    player = Player(server, planned(server, config("b"), body, policy=policy))
    player.pass_to(STARTED_AT + 10.0)
    player.behave("crash", "v1")
    player.run_to(State.RECORDING, Leg.BACK)
    known = len(server.done)
    player.behave("good", "v1")
    player.let_pass(Write)
    player.bend(Write, partial(lost, done=done), times=20 if done else 2)
    assert ends(player.run()) == BACK
    assert [write.ref.kind for write in server.done[known:]] == ["ConfigMap", "Deployment"]
    assert "spec.minReadySeconds" not in server.stored[player.web].leaves


@pytest.mark.contract("B162")
def test_a_write_back_that_was_delivered_twice_is_sent_again() -> None:
    """The answer is that to the second delivery, a conflict: no answer was lost."""
    player = going_back(config("a"))
    sent = len(player.writes)

    def twice(player: Player, effect: Write) -> AttemptEvent:
        player.server.perform(effect, player.attempt.now)
        return conflicted(player, effect)

    player.bend(Write, twice)
    assert ends(player.run()) == BACK
    kinds = [write.ref.kind for write in player.writes[sent:]]
    assert kinds == ["ConfigMap", "ConfigMap", "Deployment"]


def errs(player: Player, effect: Write) -> AttemptEvent:
    """Answer a write with an error of the server, after which the next try is 4 s away."""
    now = player.attempt.now
    return WriteUncertain(now, effect.effect_id, "no webhook", pause_seconds=4.0, answer="500")


@pytest.mark.contract("B160")
def test_a_write_without_a_clear_answer_is_read_back_after_the_pause() -> None:
    """Neither the read nor the write comes before."""
    player = going_back(config("a"))
    began_at = player.attempt.now
    player.bend(Write, errs, times=3)
    assert ends(player.run()) == BACK
    assert player.attempt.now >= began_at + 12.0


@pytest.mark.contract("B153", "B160")
def test_a_signal_ends_the_pause_before_a_write_back() -> None:
    """There are few seconds then: each try that fails is followed by another one soon."""
    player = going_back(config("a"))
    player.bend(Write, errs, times=3)
    player.run(lambda attempt: attempt.requests.not_before > attempt.now)
    began_at = player.attempt.now
    player.hear(Interrupted(began_at, signal.SIGTERM))
    assert player.attempt.awaits(Read)
    attempt = player.run()
    assert set(attempt.ledger.restored) == {player.web, world.config_ref()}
    assert attempt.now <= began_at + 3.5


@pytest.mark.contract("B1702")
def test_a_write_back_that_gets_errors_is_given_up_with_the_budget() -> None:
    """Each of them, after a read; what was refused is said with the words of the server."""
    player = going_back(config("a"))
    player.bend(Write, errs, times=1000)
    attempt = player.run()
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)
    late = "it could not be written within the budget: the server answered with 500: no webhook"
    assert {one.message for one in attempt.writes.refusals.values()} == {late}
    assert set(attempt.writes.refusals) == {player.web, world.config_ref()}
    assert attempt.now >= attempt.leg_ends_at
    assert answers_lost(attempt) == ()


@pytest.mark.contract("B1702", "B27")
def test_what_somebody_takes_over_meanwhile_is_theirs_and_not_given_up() -> None:
    """The read after the budget shows it."""
    player = going_back(config("a"))
    player.let_pass(Write)
    player.bend(Write, errs, times=1000)
    player.run(lambda attempt: attempt.now >= attempt.leg_ends_at - 3.0)
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)


@pytest.mark.contract("B153", "B1701")
def test_a_signal_leaves_what_the_server_answered_among_the_causes() -> None:
    """Also where there is no time to give the write up."""
    player = going_back(config("a"))
    player.bend(Write, errs, times=1000)
    player.run(lambda attempt: attempt.requests.not_before > attempt.now)
    player.hear(Interrupted(player.attempt.now, signal.SIGTERM))
    attempt = player.run()
    said = [cause.message for cause in ending_of(attempt).causes]
    assert any("the server answered with 500: no webhook" in one for one in said)
