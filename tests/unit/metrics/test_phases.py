"""How long each phase took, and how long it was from evidence to rollback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.parts import Purpose
from gate.core.attempt.state import Attempt
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
    facts = {"purpose": Purpose.FAILURE, "confirming_since": now, **more}
    return at(now, FORWARD, State.CONFIRMING, **facts)


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


def back(now: float, leg_at: float, written_at: float | None = None) -> Attempt:
    """Return the attempt on its way back, the first write of which was then."""
    return at(now, BACK, State.WRITING, written_at, leg_at=leg_at)


ENDED = at(22.0, BACK, State.ENDED, 21.5, leg_at=21.0)


@pytest.mark.contract("B610")
@pytest.mark.parametrize(
    ("attempts", "delay_seconds"),
    [
        pytest.param(
            [failing(20.0), failing(20.5, confirming_since=20.0), back(21.0, 21.0),
             back(21.2, 21.0, 21.25), back(30.0, 21.0, 21.25)],
            1.25, id="from the evidence to the first write",
        ),
        pytest.param(
            [failing(20.0), at(20.5, FORWARD, State.FOLLOWING), failing(50.0),
             back(51.0, 51.0, 51.0)],
            1.0, id="evidence that was refuted does not count",
        ),
        pytest.param(
            [at(20.0, FORWARD, State.CONFIRMING, purpose=Purpose.SUCCESS), back(21.5, 21.0, 21.5)],
            0.5, id="without evidence the decision counts, as of a signal",
        ),
        pytest.param([failing(20.0), back(21.0, 21.0)], None, id="nothing was written"),
        pytest.param([failing(20.0), ENDED], 1.5, id="an attempt that has ended"),
        pytest.param([failing(20.0), ENDED, at(30.0, FORWARD, State.WRITING)], None, id="the next"),
    ],
)  # fmt: skip
def test_the_delay_is_from_the_evidence_to_the_first_write_back(
    attempts: list[Attempt], delay_seconds: float | None
) -> None:
    """The evidence is what is being confirmed, not the decision; later writes change nothing."""
    assert course(*attempts).delay_seconds == pytest.approx(delay_seconds)
