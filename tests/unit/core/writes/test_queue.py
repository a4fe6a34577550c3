"""What a read shows of a write back whose answer was lost."""

from __future__ import annotations

import signal
from functools import partial

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import AttemptEvent, Interrupted, WriteConflicted, WriteUncertain
from gate.core.rollout.policy import Budgets, Policy
from gate.core.writes.order import uncertain_writes
from tests.unit.core import world
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import STARTED_AT, Player, ends, lost, planned, serving

BACK = (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)


def going_back() -> Player:
    """Let a version fail together with its configuration, and begin to go back."""
    server = serving(config("a"), v2="crash")
    player = Player(server, planned(server, config("b"), manifest("v2")))
    player.run_to(State.RECORDING, Leg.BACK)
    return player


@pytest.mark.contract("B162", "B1700")
def test_each_write_back_that_a_read_shows_is_sent_once() -> None:
    """Of the configuration as of the Deployment, and what was before is verified."""
    player = going_back()
    sent = len(player.writes)
    player.bend(Write, partial(lost, done=True), times=20)
    assert ends(player.run()) == BACK
    assert [write.ref.kind for write in player.writes[sent:]] == ["ConfigMap", "Deployment"]
    assert {player.web, world.config_ref()} == set(player.attempt.ledger.restored)


@pytest.mark.contract("B162", "B1700")
def test_a_write_back_that_no_read_shows_is_sent_again() -> None:
    """With the version that was read; an earlier request that comes late is refused for its own."""
    player = going_back()
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
    body = {**manifest("v1"), "spec": {**manifest("v1")["spec"], "minReadySeconds": 7}}
    policy = Policy(budgets=Budgets(bake_seconds=60.0))
    player = Player(server, planned(server, config("b"), body, policy=policy))
    player.pass_to(STARTED_AT + 10.0)
    player.behave("crash", "v1")
    player.run_to(State.RECORDING, Leg.BACK)
    known = len(server.done)
    player.behave("good", "v1")
    player.bend(Write, lambda player, effect: player.answer(effect))
    player.bend(Write, partial(lost, done=done), times=20 if done else 2)
    assert ends(player.run()) == BACK
    assert [write.ref.kind for write in server.done[known:]] == ["ConfigMap", "Deployment"]
    leaves = server.stored[player.web].leaves
    assert leaves.get("spec.minReadySeconds") == manifest("v1")["spec"].get("minReadySeconds")


@pytest.mark.contract("B162")
def test_a_write_back_that_was_delivered_twice_is_sent_again() -> None:
    """The answer is that to the second delivery, a conflict: no answer was lost."""
    player = going_back()
    sent = len(player.writes)

    def twice(player: Player, effect: Write) -> AttemptEvent:
        player.server.perform(effect, player.attempt.now)
        return WriteConflicted(player.attempt.now, effect.effect_id)

    player.bend(Write, twice)
    assert ends(player.run()) == BACK
    kinds = [write.ref.kind for write in player.writes[sent:]]
    assert kinds == ["ConfigMap", "ConfigMap", "Deployment"]


def put_off(player: Player, effect: Write) -> AttemptEvent:
    """Answer a write with an error, after which the next try is 5 s away."""
    now = player.attempt.now
    return WriteUncertain(now, effect.effect_id, "no", pause_seconds=5.0, answer="503")


@pytest.mark.contract("B160")
def test_a_write_without_a_clear_answer_is_read_back_after_the_pause() -> None:
    """Neither the read nor the write comes before."""
    player = going_back()
    began_at = player.attempt.now
    player.bend(Write, put_off, times=3)
    assert ends(player.run()) == BACK
    assert player.attempt.now >= began_at + 15.0


@pytest.mark.contract("B153", "B160")
def test_a_signal_ends_the_pause_before_a_write_back() -> None:
    """There are few seconds then: each try that fails is followed by another one soon."""
    player = going_back()
    player.bend(Write, put_off, times=3)
    player.run(lambda attempt: attempt.requests.not_before > attempt.now)
    began_at = player.attempt.now
    player.hear(Interrupted(began_at, signal.SIGTERM))
    assert player.attempt.awaits(Read)
    attempt = player.run()
    assert set(attempt.ledger.restored) == {player.web, world.config_ref()}
    assert attempt.now <= began_at + 3.5


def answered(player: Player, effect: Write) -> AttemptEvent:
    """Answer a write with an error of the server."""
    now = player.attempt.now
    return WriteUncertain(now, effect.effect_id, "no webhook", pause_seconds=4.0, answer="500")


@pytest.mark.contract("B1702")
def test_a_write_back_that_gets_errors_is_given_up_with_the_budget() -> None:
    """Each of them, after a read; what was refused is said with the words of the server."""
    player = going_back()
    player.bend(Write, answered, times=1000)
    attempt = player.run()
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)
    late = "it could not be written within the budget: the server answered with 500: no webhook"
    assert {one.message for one in attempt.writes.refusals.values()} == {late}
    assert set(attempt.writes.refusals) == {player.web, world.config_ref()}
    assert attempt.now >= attempt.leg_ends_at
    assert uncertain_writes(attempt) == ()


@pytest.mark.contract("B1702", "B27")
def test_what_somebody_takes_over_meanwhile_is_theirs_and_not_given_up() -> None:
    """The read after the budget shows it."""
    player = going_back()
    player.bend(Write, lambda player, effect: player.answer(effect))
    player.bend(Write, answered, times=1000)
    player.run(lambda attempt: attempt.now >= attempt.leg_ends_at - 3.0)
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    assert ends(player.run())[:2] == (8, Outcome.SUPERSEDED)


@pytest.mark.contract("B153", "B1701")
def test_a_signal_leaves_what_the_server_answered_among_the_causes() -> None:
    """Also where there is no time to give the write up."""
    player = going_back()
    player.bend(Write, answered, times=1000)
    player.run(lambda attempt: attempt.requests.not_before > attempt.now)
    player.hear(Interrupted(player.attempt.now, signal.SIGTERM))
    attempt = player.run()
    assert attempt.result.ending is not None
    said = [cause.message for cause in attempt.result.ending.causes]
    assert any("the server answered with 500: no webhook" in one for one in said)
