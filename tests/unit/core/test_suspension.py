"""A gate that itself stood still: no clock of an attempt counts that, and no check fails by it."""

from __future__ import annotations

import signal
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import Final

import pytest

from gate.core.attempt.state import Attempt
from gate.core.attempt.suspension import give_time_back
from gate.core.attempt.transitions import State
from gate.core.checks.bake_window import least_bake_seconds
from gate.core.checks.questions import Answer, Answers, Exit, HttpQuestion, HttpReply, NoReply
from gate.core.checks.spec import Check, Command, During, Http, Schedule
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Ask, Read
from gate.core.protocol.events import AccessRefused, ContactLost, Interrupted, Suspended
from gate.core.rollout.policy import Budgets, Policy
from tests.table import each
from tests.unit.core.checked_attempts import asks, policy, rolled_out
from tests.unit.core.checks_world import a_check
from tests.unit.core.player import Player

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


WAITS: Final = {
    "course": {"baked_since", "confirming_since", "inspecting_since", "closing_since"},
    "requests.wait": {"since", "ended_at", "unserved_since"},
    "writes": {"lost_at"},
    "interference": {"departed_at", "interrupted_at"},
}
"""The times of an attempt that a limit is counted from."""
MOMENTS: Final = {
    "course": {"started_at", "leg_at", "forward_ended_at"},
    "requests": {"next_read_at", "reread_at"},
    "requests.wait": {"next_read_at"},
    "writes": {"first_sent_at", "first_write_at", "rollback_written_at"},
    "result": {"verdict_at"},
}
"""Those at which something was or is due; `suspended_seconds` shifts what counts from `leg_at`."""
PARTS: Final = tuple({**WAITS, **MOMENTS})


def times_of(attempt: Attempt) -> dict[str, dict[str, object]]:
    """Return all times of an attempt, by its part and their name."""
    found = {}
    for part in {*PARTS, *(field.name for field in fields(Attempt))}:
        value: object = attrgetter(part)(attempt)
        names = [one.name for one in fields(value)] if is_dataclass(value) else []
        times = [one for one in names if one.endswith(("_at", "_since")) or one == "since"]
        if times:
            found[part] = {one: getattr(value, one) for one in times}
    return found


@pytest.mark.contract("B1435", "B1560")
@pytest.mark.parametrize(("began", "after"), [(90.0, 93.0), (99.0, 100.0)])
def test_each_time_of_an_attempt_is_a_wait_or_a_moment(began: float, after: float) -> None:
    """A sleep of 3 s until 100 s moves every wait, not beyond now, and no moment."""
    attempt = replace(still_rolling_out().attempt, now=100.0)
    assert {part: set(names) for part, names in times_of(attempt).items()} == {
        part: WAITS.get(part, set()) | MOMENTS.get(part, set()) for part in PARTS
    }
    for part, names in times_of(attempt).items():
        first, _, second = part.partition(".")
        changed = replace(attrgetter(part)(attempt), **dict.fromkeys(names, began))
        if second:
            changed = replace(getattr(attempt, first), **{second: changed})
        attempt = replace(attempt, **{first: changed})
    moved = times_of(give_time_back(attempt, 3.0))
    for part, names in moved.items():
        assert {name for name, at in names.items() if at == after} == WAITS.get(part, set()), part
        assert {name for name, at in names.items() if at == began} == MOMENTS.get(part, set()), part


@pytest.mark.contract("B1560")
def test_access_is_not_refused_for_long_by_a_sleep() -> None:
    """It was refused three times within six seconds in which the gate was awake."""
    player = still_rolling_out()

    def refuse() -> None:
        why, reason = CleanText("no"), Reason.FORBIDDEN
        player.hear(AccessRefused(player.attempt.now + 3.0, "pods", why, reason))

    refuse()
    sleep(player)
    refuse()
    refuse()
    assert player.attempt.interference.contact.refusal is None
    for _ in range(3):
        refuse()
    assert player.attempt.interference.contact.refusal is not None


@pytest.mark.contract("B1631")
def test_a_sleep_is_no_time_in_which_requests_failed() -> None:
    """They had failed for 8 s before it."""
    player = still_rolling_out()
    player.hear(ContactLost(player.attempt.now, "no", 8.0, ("429 Too Many Requests",)))
    sleep(player)
    said = player.attempt.interference.contact.describe_trouble(player.attempt.now)
    assert said == "requests to the API server have got only 429 Too Many Requests for 8 s: no"


@pytest.mark.contract("B1365")
def test_all_is_read_soon_after_a_sleep() -> None:
    """Also after a short one, long before the next full read is due."""
    player = still_rolling_out()
    before = len(player.asked(Read))
    player.hear(Suspended(player.attempt.now + 4.0, 4.0))
    player.pass_to(player.attempt.now + 1.0)
    assert len(player.asked(Read)) > before


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
