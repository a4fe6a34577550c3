"""The rules of time: a deadline condition that is about our version, and the gate's own clocks."""

from __future__ import annotations

import math

from gate.core.model.objects import CleanText, Condition, Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.applied import Applied
from gate.core.rollout.blind_time import Blindness
from gate.core.rollout.causes import Cause
from gate.core.rollout.progress import CONDITION_LAG_SECONDS, Progress, stalled_at

CONDITION_ROUNDING_SECONDS = 1.0
"""Times in conditions are whole seconds, so one of ours may seem this much older than our write."""


def condition_believed_at(deadline_seconds: float, applied_at: float) -> float:
    """Return when a deadline condition can first be about our generation, monotonic seconds.

    Measured: 26 ms after a write the condition can still be the old rollout's although
    `observedGeneration` has already caught up.
    """
    return applied_at + deadline_seconds - CONDITION_ROUNDING_SECONDS


def condition_exceeded(
    condition: Condition, applied: Applied, revision: str, deadline_seconds: float, now: float
) -> Cause | None:
    """Return the controller's own deadline condition as a cause once it can be ours, None before.

    The caller has checked that our generation is observed. A version that was found may have timed
    out earlier: then the condition's message names the followed revision (as the deployment
    controller's `syncRolloutStatus` does). After a write of ours that proves nothing, since the
    same revision may be used again.
    """
    names_it = applied.found and bool(revision) and f'"{revision}"' in condition.message
    if now < condition_believed_at(deadline_seconds, applied.at) and not names_it:
        return None
    return Cause(Reason.PROGRESS_DEADLINE_EXCEEDED, condition.message)


def no_progress(
    live: Workload,
    deadline_seconds: float,
    progress: Progress,
    blindness: Blindness,
    now: float,
    busy_until: float = -math.inf,
) -> Cause | None:
    """Fire if a controller's condition never comes: flapping pods, nothing to create."""
    clock = blindness.clock(now)
    if clock < stalled_at(progress, live, deadline_seconds, busy_until):
        return None
    silent = clock - max(progress.last_clock, busy_until)
    blind = blindness.seconds(now) - progress.blind_seconds
    beside = f"; {blind:.0f} s more do not count" if blind else ""
    message = CleanText(f"no progress for {silent:.0f} s (the gate's own clock{beside})")
    return Cause(Reason.PROGRESS_DEADLINE_EXCEEDED, message)


def total_over(
    deadline_seconds: float, progress: Progress, total_seconds: float, clock: float
) -> Cause:
    """Return why the total ended it: the deadline if nothing moved for about that long.

    Usually both are 600 s, and the condition would have come a moment later. `clock` is that of
    `Blindness`.
    """
    silent = clock - progress.last_clock
    at_standstill = silent >= deadline_seconds - CONDITION_LAG_SECONDS
    reason = Reason.PROGRESS_DEADLINE_EXCEEDED if at_standstill else Reason.TIMEOUT
    return Cause(reason, CleanText(f"not complete within {total_seconds:.0f} s"))
