"""Whose pods of a workload run, read from a finished attempt."""

from __future__ import annotations

from typing import Final

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.state import Attempt
from gate.core.endings.shared_ending import is_complete
from gate.core.endings.unwritten import has_gone
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.fact import Absent
from gate.core.model.objects import Ref, Revision
from gate.core.model.outcome import LOCK_REASONS, Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.rollout.policy import OnFailure, Policy
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.verdict import VerdictKind
from gate.report.document.versions import (
    baseline_version,
    find_tried_before,
    is_as_found,
    judged_rollout,
    latest_snapshot,
    latest_snapshot_of_run,
    new_revision,
)
from gate.report.schema.result import Running


def running(attempt: Attempt, ref: Ref) -> Running:
    """Return whose pods run now, as far as the outcome or the last snapshot shows it."""
    if _has_ended(attempt, ref):
        return "none"
    match attempt.result.endings[ref].outcome:
        case Outcome.LOST_CONTACT | Outcome.INTERNAL_ERROR:
            return "unknown"
        case Outcome.SUPERSEDED if attempt.result.endings[ref].reason != Reason.SCALED_TO_ZERO:
            return _find_running_if_superseded(attempt, ref)
        case Outcome.REFUSED if not attempt.may_have_written:
            return _find_running_if_refused(attempt, ref)
        case Outcome.ROLLED_BACK if _leaves_older_pods(attempt, ref):
            return _find_running_as_seen(attempt, ref)
        case Outcome.ROLLED_BACK if baseline_version(attempt, ref) is not None:
            return "none" if is_scaled_to_zero(attempt, ref) else "baseline"
        case Outcome.VERIFIED if is_as_found(attempt, ref):
            return _find_running_as_seen(attempt, ref)
        case Outcome.VERIFIED if _runs_all(attempt, ref):
            return "none" if is_scaled_to_zero(attempt, ref) else "new"
        case Outcome.INTERRUPTED:
            return _find_running_if_interrupted(attempt, ref)
        case _:
            return _find_running_as_seen(attempt, ref)


def _has_ended(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload ran to its end, as a Job does: no pod of it runs any more."""
    snapshot = latest_snapshot_of_run(attempt, ref)
    live = snapshot.live if snapshot is not None else None
    return has_gone(attempt, ref) or (live is not None and kind_of(ref).has_ended(live))


def _find_running_if_refused(attempt: Attempt, ref: Ref) -> Running:
    """Return whose pods run, unless others changed the template between read and refused write."""
    found, snapshot = attempt.plan.target(ref).snapshot, latest_snapshot(attempt, ref)
    before = found.live
    if before is None or baseline_version(attempt, ref) is None:
        return "unknown"
    if snapshot is not None and isinstance(snapshot.workload, Absent):
        return "unknown"
    read = attempt.ledger.live.get(ref)
    seen = (snapshot.live if snapshot else None, read.workload if read else None)
    is_same = all(one is None or one.template.body == before.template.body for one in seen)
    last = snapshot if snapshot is not None and snapshot.live is not None else found
    return _find_running_among(attempt, ref, last) if is_same else "other"


def _find_running_if_superseded(attempt: Attempt, ref: Ref) -> Running:
    if _has_its_template(attempt, ref):
        seen = _find_running_as_seen(attempt, ref)
        return "mixed" if seen == "baseline" and _is_being_changed(attempt, ref) else seen
    if attempt.result.endings[ref].reason in LOCK_REASONS:
        return _behind_lost_lock(attempt, ref)
    is_there = _is_being_deleted(attempt, ref) or _is_as_written(attempt, ref)
    return _find_running_as_seen(attempt, ref) if is_there else "other"


def _has_its_template(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what a way back never wrote has its old pod template: it may only be paused."""
    live, before = attempt.ledger.live.get(ref), attempt.plan.before(ref)
    if not is_as_found(attempt, ref) or live is None or before is None:
        return False
    if live.workload is None or before.workload is None or live.uid != before.uid:
        return False
    return live.workload.template.body == before.workload.template.body


def _is_being_changed(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether somebody else's pod template was seen, whose pods may not have been yet."""
    before, snapshot = attempt.plan.target(ref).snapshot.live, latest_snapshot(attempt, ref)
    live = snapshot.live if snapshot is not None else None
    if before is None or live is None:
        return False
    return live.template.body != before.template.body


def _behind_lost_lock(attempt: Attempt, ref: Ref) -> Running:
    """Return what runs after a lock was lost, by whether the last look shows others' writes."""
    found = attempt.ledger.findings.get(ref)
    if found is None or found.kind in (FindingKind.AS_WRITTEN, FindingKind.BEING_DELETED):
        return _find_running_as_seen(attempt, ref)
    if found.kind is FindingKind.UNREAD:
        return "unknown"
    in_template = any(path.startswith("spec.template") for path in found.paths)
    is_same = found.kind is FindingKind.CHANGED and found.paths and not in_template
    return _find_running_as_seen(attempt, ref) if is_same else "other"


def _is_being_deleted(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload still waits for its finalizers: its pods may go on running."""
    found, snapshot = attempt.ledger.findings.get(ref), latest_snapshot(attempt, ref)
    if found is not None and found.kind is not FindingKind.UNREAD:
        return found.kind is FindingKind.BEING_DELETED
    return snapshot is not None and snapshot.live is not None and snapshot.live.deleting


def _is_as_written(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the last look found it as this attempt left it: its namespace alone goes."""
    found = attempt.ledger.findings.get(ref)
    return found is not None and found.kind is FindingKind.AS_WRITTEN


def is_scaled_to_zero(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload is to have no pod, so that none of its versions serves."""
    snapshot = latest_snapshot(attempt, ref)
    return snapshot is not None and snapshot.live is not None and snapshot.live.replicas == 0


def is_left_paused(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload that ended well is paused, so that no change of it rolls out."""
    snapshot, ending = latest_snapshot(attempt, ref), attempt.result.endings.get(ref)
    is_good = ending is not None and ending.outcome in (Outcome.VERIFIED, Outcome.ROLLED_BACK)
    live = snapshot.live if snapshot is not None else None
    return is_good and live is not None and live.paused


def is_held_after_signal(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a pause holds what a signal left half-way: it does not go on by itself."""
    rollout, ending = attempt.workloads.rollouts.get(ref), attempt.result.endings.get(ref)
    if rollout is None or ending is None or ending.outcome is not Outcome.INTERRUPTED:
        return False
    live = rollout.snapshot.live
    return live is not None and live.paused and not is_complete(attempt, ref)


def is_complete_after_signal(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a signal left a rollout complete on the way out: nothing of it goes on."""
    is_interrupted = attempt.result.endings[ref].outcome is Outcome.INTERRUPTED
    return is_interrupted and attempt.course.leg is Leg.FORWARD and is_complete(attempt, ref)


def _runs_all(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a good end shows that every pod is of the new version, or that none is wanted.

    A kind may have good ends of its own that leave older pods as they are.
    """
    reason = attempt.result.endings[ref].reason
    return reason in _OF_ALL_PODS and _asks_for_all(attempt.plan.policy)


_OF_ALL_PODS: Final = (Reason.COMPLETE, Reason.NO_CHANGE, Reason.VACUOUS)


def _leaves_older_pods(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a way back was complete although its strategy left pods at another version."""
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is None or ref not in attempt.ledger.restored:
        return False
    verdict = rollout.verdict(attempt.now)
    return verdict.kind is VerdictKind.COMPLETE and verdict.reason not in _OF_ALL_PODS


def _asks_for_all(policy: Policy) -> bool:
    return policy.requirement.require is None and not policy.requirement.require_min_available


def _find_running_if_interrupted(attempt: Attempt, ref: Ref) -> Running:
    """Return what runs; if a write had not taken hold when it was last seen, "mixed"."""
    written = attempt.ledger.written.get(ref)
    under_way = (
        ref in attempt.ledger.restored
        if attempt.course.leg is Leg.BACK
        else (written is not None and written.changed)
    )
    seen = _find_running_as_seen(attempt, ref)
    start: Running = "new" if attempt.course.leg is Leg.BACK else "baseline"
    return "mixed" if under_way and seen == start else seen


def _taken_down(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether this attempt scaled a first deployment to zero, or deleted it."""
    pauses = attempt.plan.policy.response.on_failure is OnFailure.PAUSE
    return ref in attempt.ledger.deleted or (ref in attempt.ledger.patched and not pauses)


def _find_running_as_seen(attempt: Attempt, ref: Ref) -> Running:
    snapshot = latest_snapshot(attempt, ref)
    gone = snapshot is not None and isinstance(snapshot.workload, Absent)
    is_held = _is_being_deleted(attempt, ref)  # by a finalizer: until it is gone its pods run on
    if gone or (ref in attempt.ledger.deleted and not is_held):
        return "other"
    if _taken_down(attempt, ref) and not is_held:
        return "none"
    if snapshot is None or snapshot.live is None:
        return "unknown"
    return _find_running_among(attempt, ref, snapshot)


def _find_running_among(attempt: Attempt, ref: Ref, snapshot: Snapshot) -> Running:
    """Return whose pods there are of a workload that is there."""
    with_pods = [one for one in snapshot.list_owned() if snapshot.count_pods(one).created]
    # The parallelism of what runs once may be 0 as well: it has not run then, and may yet.
    is_empty = snapshot.live is not None and snapshot.live.replicas == 0
    if not with_pods and is_empty and has_way_back(ref):
        return "none"
    kinds = {_kind(attempt, ref, revision) for revision in with_pods}
    if len(kinds) > 1:
        return "mixed"
    return next(iter(kinds), "other")


def _kind(attempt: Attempt, ref: Ref, revision: Revision) -> Running:
    """Return whose version it is; one that is both new and baseline counts as the leg's."""
    kinds: list[Running] = []
    rollout = judged_rollout(attempt, ref)
    if rollout is not None:
        new = new_revision(rollout) or _find_written(attempt, ref)
    else:
        new = find_tried_before(attempt, ref) if ref in attempt.ledger.restored else None
    if new is not None and new.uid == revision.uid:
        kinds.append("new")
    baseline = baseline_version(attempt, ref)
    if baseline is not None and baseline["name"] == revision.name:
        kinds.append("baseline")
    if not kinds:
        return "other"
    return kinds[-1] if attempt.course.leg is Leg.BACK else kinds[0]


def _find_written(attempt: Attempt, ref: Ref) -> Revision | None:
    """Return the version that this attempt wrote, even if the way back saw it first."""
    written, snapshot = attempt.ledger.written.get(ref), latest_snapshot(attempt, ref)
    if written is None or written.after.workload is None or snapshot is None:
        return None
    body = written.after.workload.template.body
    return next((one for one in snapshot.list_owned() if one.template.body == body), None)
