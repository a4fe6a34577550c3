"""A workload that somebody deleted during the run: what was left of it when last seen."""

from __future__ import annotations

from gate.core.attempt.last_look import Finding, FindingKind
from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref, Revision
from gate.core.model.outcome import Outcome, Reason
from gate.core.rollout.snapshot import Snapshot
from gate.report.document.run import Run
from gate.report.document.versions import latest_snapshot
from gate.report.kinds.registry import of_entry
from gate.report.schema.result import DeletionResult, WorkloadResult
from gate.wire.untrusted import clean_line


def deletion(attempt: Attempt, ref: Ref, run: Run) -> DeletionResult | None:
    """Return what was seen of the deletion; None if nobody deleted it, or it was created again."""
    ending, found = attempt.result.endings[ref], attempt.ledger.findings.get(ref)
    if ending.outcome is not Outcome.SUPERSEDED or ending.reason is not Reason.DELETED:
        return None
    if found is not None and found.kind is FindingKind.RECREATED:
        return None
    snapshot = latest_snapshot(attempt, ref)
    return {
        "done": _is_done(found, snapshot),
        "finalizers": [clean_line(name) for name in (found.finalizers if found else ())],
        "pods": _pods(attempt, ref, snapshot) if snapshot is not None else None,
        "namespace_goes": ref.namespace in run.going_namespaces,
    }


def _is_done(found: Finding | None, snapshot: Snapshot | None) -> bool:
    """Tell whether the workload was gone, by the last read, else by the watch."""
    if found is not None and found.kind is not FindingKind.UNREAD:
        return found.kind is FindingKind.DELETED
    return snapshot is None or snapshot.live is None


def _pods(attempt: Attempt, ref: Ref, snapshot: Snapshot) -> int:
    """Count the pods that were there and not being deleted themselves.

    `--cascade=orphan` removes the owner from the versions: those are recognised by the owner
    that they had before, or by their template. What is its own version has none that outlives it.
    """
    uids = _uids(attempt, ref)
    tracks = [
        track
        for revision in snapshot.revisions.values()
        if _is_of(attempt, ref, revision)
        for track in snapshot.pods_of(revision)
    ]
    tracks += [one for one in snapshot.pods.values() if one.counts and one.pod.owner_uid in uids]
    return len({one.pod.uid for one in tracks})


def _uids(attempt: Attempt, ref: Ref) -> set[str]:
    """Return the uids of the workload that this run found and of the one that it wrote."""
    written, live = attempt.ledger.written.get(ref), attempt.plan.target(ref).snapshot.live
    found = {live.uid if live is not None else "", written.after.uid if written is not None else ""}
    return found - {""}


def _is_of(attempt: Attempt, ref: Ref, revision: Revision) -> bool:
    rollout, uids = attempt.workloads.rollouts.get(ref), _uids(attempt, ref)
    if revision.owner_uid:
        return revision.owner_uid in uids
    before = attempt.plan.target(ref).snapshot.revisions.get(revision.uid)
    if before is not None:
        return before.owner_uid in uids
    return rollout is not None and revision.template.body == rollout.applied.template.body


def deletion_words(workload: WorkloadResult) -> str:
    """Say how far the deletion was and what still ran, "" if nobody deleted it."""
    seen = workload["deletion"]
    if seen is None:
        return ""
    if of_entry(workload).runs_once:
        left = _describe_pods(seen)
        return f"not known: it was deleted before it ended; {left} when last seen"
    if seen["pods"] is None:
        return "not known: it was deleted, and its pods were not seen"
    pods = _describe_pods(seen)
    if seen["done"]:
        last = f"not known: it was deleted; {pods} when last seen"
        return last if seen["pods"] else "nothing: it was deleted, and no pod of it was left"
    waits = f" and waits for {', '.join(seen['finalizers'])}" if seen["finalizers"] else ""
    return f"{pods if seen['pods'] else 'no pod'}; it is being deleted{waits}"


def _describe_pods(seen: DeletionResult) -> str:
    if seen["pods"] is None:
        return "its pods were not seen"
    if not seen["pods"]:
        return "no pod of it was left"
    return f"{seen['pods']} of its pods {'was' if seen['pods'] == 1 else 'were'} still there"
