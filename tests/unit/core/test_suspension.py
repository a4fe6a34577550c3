"""A gate that itself stood still: no clock of an attempt counts that, and no check fails by it."""

from __future__ import annotations

import signal

import pytest

from gate.core.attempt.transitions import State
from gate.core.checks.questions import Answers, Exit
from gate.core.checks.spec import Command
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Ask, Read
from gate.core.protocol.events import Interrupted, Suspended
from gate.core.rollout.policy import Budgets, Policy
from tests.unit.core.checks_world import a_check
from tests.unit.core.player import Player
from tests.unit.core.test_attempt_checks import policy, rolled_out

SLEPT_SECONDS = 2000.0
"""More than twice the progress deadline, which is 600 s."""
TIMEOUT_SECONDS = 60.0


def sleep(player: Player) -> None:
    """Let the gate stand still for a while."""
    player.hear(Suspended(player.attempt.now + SLEPT_SECONDS, SLEPT_SECONDS))


def still_rolling_out() -> Player:
    """Return an attempt whose new version is not ready, 5 s after its write."""
    budgets = Budgets(timeout_seconds=TIMEOUT_SECONDS)
    player = rolled_out(Policy(budgets), v2="slow")
    player.run_to(State.FOLLOWING)
    player.pass_to(player.attempt.now + 5.0)
    return player


@pytest.mark.contract("B1435")
def test_a_signal_at_the_wake_finds_no_deadline_that_passed_in_the_sleep() -> None:
    """Nobody saw the version meanwhile: there is no evidence, and nothing goes back."""
    player = still_rolling_out()
    sleep(player)
    player.hear(Interrupted(player.attempt.now, signal.SIGTERM))
    player.run()
    assert (player.attempt.outcome, player.attempt.course.leg) == (
        Outcome.INTERRUPTED,
        Leg.FORWARD,
    )


@pytest.mark.contract("B1435")
def test_no_server_is_blamed_for_what_the_gate_slept_through() -> None:
    """A version that had its whole budget awake is late by itself."""
    player = still_rolling_out()
    began_at = player.attempt.course.leg_at
    sleep(player)
    attempt = player.run()
    assert attempt.result.verdict_at == began_at + TIMEOUT_SECONDS + SLEPT_SECONDS
    (failure,) = attempt.result.failures.values()
    assert failure.reason is Reason.TIMEOUT


@pytest.mark.contract("B1435")
def test_a_verdict_is_confirmed_after_the_sleep() -> None:
    """The read that may refute it has its whole time."""
    player = rolled_out(Policy(), v2="crash")
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    sleep(player)
    assert player.place == (Leg.FORWARD, State.CONFIRMING)
    player.server.behaviour.clear()
    player.server.control(player.web)
    player.hold = ()
    assert player.run().outcome is Outcome.VERIFIED


@pytest.mark.contract("B1436")
@pytest.mark.parametrize("again", [0, 1])
def test_a_measurement_that_spans_a_sleep_is_asked_again(again: int) -> None:
    """What it says counts for nothing; what the second one says does."""
    player = rolled_out(policy(a_check(Command(("smoke",)))), measure=Answers(Exit(again)))
    player.hold = (Ask,)
    player.run(lambda _: any(isinstance(one, Ask) for one in player.sent))
    (first,) = (one for one in player.waiting if isinstance(one, Ask))
    sleep(player)
    assert first.effect_id not in player.attempt.requests.outstanding
    player.waiting.remove(first)
    (second,) = (one for one in player.waiting if isinstance(one, Ask))
    assert second.tick.at >= first.tick.at + SLEPT_SECONDS - 10.0
    player.hold = ()
    wanted = Outcome.ROLLED_BACK if again else Outcome.VERIFIED
    assert player.run().outcome is wanted
