"""The clocks as the live tree shows them: no progress, the whole, the bake window.

With several workloads, each clock is that of the one that is closest to its limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.plan.leg import Leg
from gate.core.rollout.judge import Rollout
from gate.report.live.view import ClockView

NO_PROGRESS = "no progress"
WHOLE = "in all"
BAKE = "bake window"


def attempt_clocks(attempt: Attempt, now: float) -> tuple[ClockView, ...]:
    """Return the clocks of an attempt's present leg; none while it writes."""
    rollouts = [
        rollout
        for ref, rollout in attempt.workloads.rollouts.items()
        if ref not in attempt.interference.departures and attempt.course.state is not State.WRITING
    ]
    return (*rollout_clocks(rollouts, now), *_bake(attempt, now))


def rollout_clocks(rollouts: Iterable[Rollout], now: float) -> tuple[ClockView, ...]:
    """Return the two clocks of rollouts; one that is stopped or has no limit is left out."""
    followed = list(rollouts)
    stalled = [clock for rollout in followed for clock in _no_progress(rollout, now)]
    whole = [clock for rollout in followed for clock in _whole(rollout, now)]
    return tuple(min(found, key=_count_seconds_left) for found in (stalled, whole) if found)


def _count_seconds_left(clock: ClockView) -> float:
    return clock.limit_seconds - clock.seconds


def _no_progress(rollout: Rollout, now: float) -> Iterator[ClockView]:
    live, progress = rollout.snapshot.live, rollout.progress
    if live is None or live.paused or progress.complete:
        return
    if math.isfinite(rollout.deadline_seconds):
        seconds = max(0.0, rollout.blindness.clock(now) - progress.last_clock)
        yield ClockView(NO_PROGRESS, seconds, rollout.deadline_seconds)


def _whole(rollout: Rollout, now: float) -> Iterator[ClockView]:
    limit = rollout.ends_at - rollout.budget.begins_at
    if math.isfinite(limit):
        yield ClockView(WHOLE, max(0.0, now - rollout.budget.begins_at), limit)


def _bake(attempt: Attempt, now: float) -> Iterator[ClockView]:
    limit = attempt.bake_ends_at - attempt.course.baked_since
    if attempt.course.leg is Leg.FORWARD and attempt.course.state is State.BAKING and limit > 0:
        yield ClockView(BAKE, max(0.0, now - attempt.course.baked_since), limit, welcome=True)
