"""A workload as an attempt leaves it: its uid, and the revisions that it still has."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.check_conclusions import find_passed
from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref, Revision
from gate.core.plan.record import Record
from gate.core.versions.closing_workload import ClosingWorkload
from gate.core.versions.judged_version import JudgedVersion


def workload_of(
    attempt: Attempt, record: Record, ref: Ref, shown: JudgedVersion | None
) -> ClosingWorkload:
    """Return the workload that was written, else the one that was there before the attempt.

    `shown` is what would be verified now if no other check had left it in doubt, None if none did.
    """
    written = attempt.ledger.written.get(ref)
    live = attempt.ledger.restored.get(ref) or (written.after if written is not None else None)
    before = next((one.uid for one in record.objects if one.ref == ref), "")
    found = ClosingWorkload(live.uid if live is not None else before, revisions_of(attempt, ref))
    if shown is None:
        return found
    return replace(found, template=shown.template, passed=find_passed(attempt, ref))


def revisions_of(attempt: Attempt, ref: Ref) -> tuple[Revision, ...]:
    """Return the revisions of a workload as read last, or as planned if never read since."""
    rollout = attempt.workloads.rollouts.get(ref) or attempt.workloads.followed_before.get(ref)
    if rollout is not None:
        return rollout.snapshot.list_owned()
    planned = (one.snapshot for one in attempt.plan.targets if one.ref == ref)
    return next((one.list_owned() for one in planned), ())
