"""The rollouts of an attempt that a recovery goes on with, followed from what is live."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.new_rollout import applied_found, applied_of, start_following
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import kind_of
from gate.core.plan.plan import Target
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.writes.results import count_made


def follow_again(attempt: Attempt, target: Target, written: WrittenObject | None) -> Attempt:
    """Follow a workload: what the dead gate wrote of it, or as it is found."""
    live = target.snapshot.live
    if live is None or target.ref in attempt.interference.departures:
        return attempt
    if written is None:
        return start_following(attempt, applied_found(attempt.now, live), target.snapshot)
    applied = applied_of(attempt.now, written.before, written.after, written.field_manager)
    if applied.replicas == 0:
        count = count_made(attempt, target.ref) or _count_nodes_before(target, written)
        applied = replace(applied, replicas=count)
    return start_following(attempt, applied, target.snapshot)


def _count_nodes_before(target: Target, written: WrittenObject) -> int:
    """Return on how many nodes a workload ran that has no number of its own, 0 if it was moved.

    The record keeps no status of before the write, which would say so.
    """
    kind, before, after = kind_of(target.ref), written.before, written.after
    if kind.default_replicas is not None or before is None:
        return 0
    if before.workload is None or after.workload is None:
        return 0
    was = replace(before.workload, replicas=target.snapshot.own.before.count)
    count: int = kind.count_kept(was, after.workload)
    return count
