"""A workload as an attempt leaves it: its uid, and the revisions that it still has."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref, Revision
from gate.core.plan.journal_record import Record
from gate.core.versions.closing_workload import ClosingWorkload


def workload_of(attempt: Attempt, record: Record, ref: Ref) -> ClosingWorkload:
    """Return the workload that was written, else the one that was there before the attempt."""
    written = attempt.ledger.written.get(ref)
    live = attempt.ledger.restored.get(ref) or (written.after if written is not None else None)
    before = next((one.uid for one in record.objects if one.ref == ref), "")
    return ClosingWorkload(live.uid if live is not None else before, revisions_of(attempt, ref))


def revisions_of(attempt: Attempt, ref: Ref) -> tuple[Revision, ...]:
    """Return the revisions of a workload as read last, or as planned if never read since."""
    rollout = attempt.workloads.rollouts.get(ref) or attempt.workloads.followed_before.get(ref)
    if rollout is not None:
        return rollout.snapshot.list_owned()
    planned = (one.snapshot for one in attempt.plan.targets if one.ref == ref)
    return next((one.list_owned() for one in planned), ())
