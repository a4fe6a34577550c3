"""How long each phase took, and how long it was from evidence to rollback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.state import Attempt, Purpose
from gate.core.attempt.transitions import State
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin
from gate.metrics.phases import Phases

BEGUN, _ = begin(Plan("apply", (), (), (), Policy()), 10.0)
FORWARD, BACK = Leg.FORWARD, Leg.BACK


def at(
    now: float, leg: Leg, state: State, rollback_written_at: float | None = None, **course: Any
) -> Attempt:
    """Return the attempt at a place and a time."""
    return replace(
        BEGUN,
        now=now,
        course=replace(BEGUN.course, leg=leg, state=state, **course),
        writes=replace(BEGUN.writes, rollback_written_at=rollback_written_at),
    )


def course(*attempts: Attempt, since: float = 8.0) -> Phases:
    """Return what is known after some steps of a run that began at `since`."""
    phases = Phases(since)
    for attempt in attempts:
        phases = phases.after_step(attempt)
    return phases


def failing(now: float, **more: Any) -> Attempt:
    """Return the attempt while it confirms a failure."""
    told = {"purpose": Purpose.FAILURE, "confirming_since": now, **more}
    return at(now, FORWARD, State.CONFIRMING, **told)


@pytest.mark.contract("B610")
def test_each_phase_has_its_seconds() -> None:
    """From the start of the run on, a phase that comes again adding up, the present one growing."""
    phases = course(
        at(10.0, FORWARD, State.RECORDING),
        at(10.5, FORWARD, State.FOLLOWING),
        at(14.5, FORWARD, State.BAKING),
        at(15.5, FORWARD, State.FOLLOWING),
        at(16.0, FORWARD, State.FOLLOWING),
    )
    assert dict(phases.durations(18.5)) == {
        (FORWARD, "preparing"): 2.0,
        (FORWARD, "recording"): 0.5,
        (FORWARD, "following"): 7.0,
        (FORWARD, "baking"): 1.0,
    }


@pytest.mark.contract("B610")
def test_the_delay_is_from_the_evidence_to_the_first_write_back() -> None:
    """The evidence is what is being confirmed, not the decision; later writes change nothing."""
    phases = course(
        at(10.0, FORWARD, State.FOLLOWING),
        failing(20.0),
        failing(20.5, confirming_since=20.0),
        at(21.0, BACK, State.RECORDING, leg_at=21.0),
        at(21.2, BACK, State.WRITING, leg_at=21.0, rollback_written_at=21.25),
        at(30.0, BACK, State.FOLLOWING, leg_at=21.0, rollback_written_at=21.25),
    )
    assert phases.delay_seconds == pytest.approx(1.25)


def test_evidence_that_was_refuted_does_not_count() -> None:
    """Pods got ready while the failure was being confirmed; what failed later did."""
    phases = course(
        failing(20.0),
        at(20.5, FORWARD, State.FOLLOWING),
        failing(50.0),
        at(51.0, BACK, State.WRITING, leg_at=51.0, rollback_written_at=51.0),
    )
    assert phases.delay_seconds == 1.0


def test_without_evidence_the_decision_counts() -> None:
    """A write that was refused, or a signal, confirms nothing."""
    confirming = at(20.0, FORWARD, State.CONFIRMING, purpose=Purpose.SUCCESS)
    back = at(21.5, BACK, State.WRITING, leg_at=21.0, rollback_written_at=21.5)
    assert course(confirming, back).delay_seconds == 0.5


def test_without_a_write_back_there_is_no_delay() -> None:
    """Nor is that of the attempt before the next one's."""
    back = at(21.0, BACK, State.WRITING, leg_at=21.0)
    assert course(failing(20.0), back).delay_seconds is None
    ended = at(22.0, BACK, State.ENDED, leg_at=21.0, rollback_written_at=21.5)
    assert course(failing(20.0), ended).delay_seconds == 1.5
    assert course(failing(20.0), ended, at(30.0, FORWARD, State.WRITING)).delay_seconds is None
