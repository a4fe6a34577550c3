"""What its kind says of a workload beside its verdict, as values and as warnings."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.report.document.versions import latest_snapshot, latest_snapshot_of_run
from gate.report.schema.result import RemarkResult
from gate.wire.untrusted import clean_line

_MOST_NAMED = 5


def workload_remarks(attempt: Attempt, ref: Ref) -> list[RemarkResult]:
    """Return what is to be known of a workload as it was seen last."""
    snapshot = latest_snapshot(attempt, ref)
    if snapshot is None or snapshot.live is None:
        return []
    found = snapshot.kind.remarks(snapshot, snapshot.live)
    return [{"message": one.text, "about": list(map(clean_line, one.about))} for one in found]


def lasting_effect(attempt: Attempt, ref: Ref) -> str:
    """Return what of a workload no rollback takes back, "" if there is nothing of that kind."""
    snapshot = latest_snapshot_of_run(attempt, ref)
    if snapshot is None or snapshot.live is None:
        return ""
    return clean_line(snapshot.kind.lasting_effect(snapshot, snapshot.live))


def workload_warnings(attempt: Attempt) -> Iterator[str]:
    """Yield the remarks on all workloads, and what stays of those that went back."""
    name = attempt.plan.name_of
    for target in attempt.plan.targets:
        for remark in workload_remarks(attempt, target.ref):
            about = remark["about"]
            more = f" and {len(about) - _MOST_NAMED} more" if len(about) > _MOST_NAMED else ""
            named = f": {', '.join(about[:_MOST_NAMED])}{more}" if about else ""
            yield f"{name(target.ref)}: {remark['message']}{named}"
        written = attempt.ledger.written.get(target.ref)
        went_back = attempt.course.leg is Leg.BACK and written is not None and written.changed
        effect = lasting_effect(attempt, target.ref) if went_back else ""
        if effect:
            yield f"{name(target.ref)}: {effect} stays as it is: no rollback takes that back"
