"""A gate that itself stood still: no clock of an attempt counts that, and no check fails by it."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.checks.bake_window import least_bake_seconds
from gate.core.checks.questions import Answer, Answers, Exit, HttpQuestion, HttpReply, NoReply
from gate.core.checks.spec import Check, Command, During, Http, Schedule
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Ask, Collect, Read
from gate.core.protocol.events import Interrupted, Suspended
from gate.core.rollout.policy import Budgets, Policy
from tests.table import each
from tests.unit.core.checks_world import a_check
from tests.unit.core.player import Player
from tests.unit.core.test_attempt_checks import asks, policy, rolled_out

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
def test_the_log_of_a_failure_is_waited_for_after_the_sleep() -> None:
    """It has its whole time, as the read beside it that may refute the failure."""
    player = rolled_out(Policy(), v2="crash")
    player.hold = (Collect,)
    player.run_to(State.CONFIRMING)
    sleep(player)
    assert player.place == (Leg.FORWARD, State.CONFIRMING)
    player.hold = ()
    attempt = player.run()
    assert (attempt.outcome, len(attempt.result.evidence)) == (Outcome.ROLLED_BACK, 1)


@pytest.mark.contract("B1435")
def test_a_sleep_is_no_hanging_server_that_makes_a_window_blind() -> None:
    """B54 watches once more where a read takes long; the gate slept through this one."""
    player = rolled_out(Policy(Budgets(bake_seconds=30.0)))
    player.run_to(State.BAKING)
    player.hold = (Read,)
    player.run_to(State.CONFIRMING)
    sleep(player)
    player.hold = ()
    assert player.run().outcome is Outcome.VERIFIED
    assert [line.event for line in player.said].count("baking") == 1


@pytest.mark.contract("B1365")
def test_all_is_read_soon_after_a_sleep() -> None:
    """Also after a short one, long before the next full read is due."""
    player = still_rolling_out()
    before = len([one for one in player.sent if isinstance(one, Read)])
    player.hear(Suspended(player.attempt.now + 4.0, 4.0))
    player.pass_to(player.attempt.now + 1.0)
    assert len([one for one in player.sent if isinstance(one, Read)]) > before


# -- what is asked meanwhile -----------------------------------------------------------------------

SMOKE, PING = Command(("smoke",)), Http(HttpQuestion("http://web"), max_latency_seconds=1.0)
FAST, SLOW = HttpReply(200, 0.9), HttpReply(200, 9.0)
DOWN = HttpReply(503, 9.0)


def asked_before_a_sleep(check: Check, *answers: Answer) -> Player:
    """Return an attempt that awaits the first answer of a check; the last one comes ever after."""
    said = iter(answers[:-1])
    limits = policy(check, bake=0.0)
    budgets = replace(limits.budgets, evidence_seconds=least_bake_seconds((check,)))
    player = rolled_out(replace(limits, budgets=budgets))
    player.measure = lambda _: Answers(next(said, answers[-1]))
    player.hold = (Ask,)
    player.run(lambda _: bool(asks(player)))
    return player


@pytest.mark.contract("B1436")
@each(
    ("probe", "first", "then", "asked", "outcome"),
    [
        (SMOKE, Exit(0), Exit(1), 1, Outcome.VERIFIED),
        (SMOKE, Exit(1), Exit(0), 1, Outcome.ROLLED_BACK),
        (SMOKE, Exit(None), Exit(0), 2, Outcome.VERIFIED),
        (SMOKE, Exit(None), Exit(1), 2, Outcome.ROLLED_BACK),
        (PING, FAST, DOWN, 1, Outcome.VERIFIED),
        (PING, DOWN, FAST, 1, Outcome.ROLLED_BACK),
        (PING, SLOW, FAST, 2, Outcome.VERIFIED),
        (PING, SLOW, SLOW, 2, Outcome.ROLLED_BACK),
        (PING, NoReply(CleanText("timed out")), FAST, 2, Outcome.VERIFIED),
    ],
)
def test_only_what_a_sleep_makes_unknowable_is_asked_again(
    probe: Command | Http, first: Answer, then: Answer, asked: int, outcome: Outcome
) -> None:
    """However often the gate stands still meanwhile, nothing else is asked before the answer."""
    player = asked_before_a_sleep(a_check(probe, Schedule(count=1)), first, then)
    for _ in range(3):
        sleep(player)
    player.hold = ()
    assert player.run().outcome is outcome
    assert len(asks(player)) == asked


def answer_one(player: Player) -> None:
    """Answer the question that is held, and stop at the next one."""
    before = len(asks(player))
    player.hold = ()
    player.run(lambda attempt: attempt.ended or len(asks(player)) > before)
    player.hold = (Ask,)


@pytest.mark.contract("B1525")
@pytest.mark.parametrize("sleeps", [1, 2])
def test_a_window_gets_back_what_a_question_took_of_it(sleeps: int) -> None:
    """The command is cut off after its 60 s, 56 of them awake; the next one takes 50 s, as it may.

    Only one in a row gives time back: if the gate stands still again, the window ends undecided.
    """
    check = a_check(SMOKE, Schedule(count=1, during=During.BAKE))
    player = asked_before_a_sleep(check, *[Exit(None)] * sleeps, Exit(0))
    for _ in range(sleeps):
        asked_at = player.attempt.now
        player.pass_to(asked_at + 45.0)
        player.hear(Suspended(player.attempt.now + 4.0, 4.0))
        player.pass_to(asked_at + 60.0)
        answer_one(player)
    player.pass_to(player.attempt.now + 50.0)
    player.hold = ()
    outcome = Outcome.VERIFIED if sleeps == 1 else Outcome.INCONCLUSIVE
    assert player.run().outcome is outcome
