"""The reads that a state asks for, beside those of the writes and of the last look."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from gate.core.attempt import limits
from gate.core.attempt.state import Attempt, Step
from gate.core.model.objects import Ref
from gate.core.protocol.effects import Effect, Read

_READ_AGAIN_SECONDS = 5.0
"""After a failed request or watch, how soon after the last full read the next one is due."""


def postpone_full_read(attempt: Attempt) -> Attempt:
    """Return the attempt with its next full read an interval away."""
    next_read_at = attempt.now + read_interval_seconds(attempt)
    return replace(attempt, requests=replace(attempt.requests, next_read_at=next_read_at))


def schedule_full_read(attempt: Attempt) -> Attempt:
    """Return the attempt with a full read ahead: one that is due, or is not planned, moves."""
    is_ahead = attempt.now < attempt.requests.next_read_at < math.inf
    return attempt if is_ahead else postpone_full_read(attempt)


def hasten_full_read(attempt: Attempt) -> Attempt:
    """Return the attempt with a full read now, or some seconds after the last one.

    One that is so near already may have been hastened before, and stays where it is.
    """
    requests = attempt.requests
    if requests.next_read_at <= attempt.now + _READ_AGAIN_SECONDS:
        return attempt
    last_read_at = requests.next_read_at - read_interval_seconds(attempt)
    next_read_at = max(attempt.now, last_read_at + _READ_AGAIN_SECONDS)
    return replace(attempt, requests=replace(requests, next_read_at=next_read_at))


def read_interval_seconds(attempt: Attempt) -> float:
    """Return the time between full reads: several a deadline, or blindness would pass unnoticed."""
    deadlines = [rollout.deadline_seconds for rollout in attempt.workloads.rollouts.values()]
    a_third = min(deadlines, default=math.inf) / limits.READS_A_DEADLINE
    often = max(limits.SHORTEST_READ_INTERVAL_SECONDS, a_third)
    return min(attempt.plan.policy.budgets.read_interval_seconds, often)


def read_all(
    attempt: Attempt, refs: Iterable[Ref], *, whole_rollout: bool = True, again: bool = False
) -> Step:
    """Read `refs`, whatever the watches say, except those that are being read already.

    With `again` those too: the answer that is awaited may be older than what a watch brought since.
    """
    under_way = {
        effect.ref for effect in attempt.requests.outstanding.values() if isinstance(effect, Read)
    }
    effects: list[Effect] = []
    for ref in refs:
        if again or ref not in under_way:
            read = Read(attempt.requests.next_id, ref, whole_rollout)
            attempt = attempt.with_effect(read)
            effects.append(read)
    return attempt, tuple(effects)
