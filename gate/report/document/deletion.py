"""A workload that goes, alone or with its namespace: what was left of it when last seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from gate.core.attempt.last_look import Finding, FindingKind
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import Body
from gate.core.model.objects import Ref, Revision
from gate.core.model.outcome import Outcome, Reason
from gate.core.rollout.snapshot import Snapshot
from gate.report.document.versions import latest_snapshot
from gate.report.kinds.registry import of_entry
from gate.report.schema.result import DeletionResult, WorkloadResult
from gate.wire.untrusted import clean_line


def deletion(attempt: Attempt, ref: Ref) -> DeletionResult | None:
    """Return what was seen of the deletion; None if it does not go, or was created again."""
    ending, found = attempt.result.endings[ref], attempt.ledger.findings.get(ref)
    is_deleted = ending.outcome is Outcome.SUPERSEDED and ending.reason is Reason.DELETED
    goes = ref.namespace in attempt.workloads.terminating_namespaces
    if not is_deleted and not (goes and has_way_back(ref)):
        return None
    if found is not None and found.kind is FindingKind.RECREATED:
        return None
    snapshot = latest_snapshot(attempt, ref)
    return {
        "done": _is_done(found, snapshot),
        "finalizers": [clean_line(name) for name in (found.finalizers if found else ())],
        "pods": _pods(attempt, ref, snapshot) if snapshot is not None else None,
        "namespace_goes": goes,
    }


def _is_done(found: Finding | None, snapshot: Snapshot | None) -> bool:
    """Tell whether the workload was gone, by the last read, else by the watch."""
    if found is not None and found.kind is not FindingKind.UNREAD:
        return found.kind is FindingKind.DELETED
    return snapshot is None or snapshot.live is None


def _pods(attempt: Attempt, ref: Ref, snapshot: Snapshot) -> int | None:
    """Count the pods that were there and not being deleted themselves, None if that is not known.

    `--cascade=orphan` removes the owner from the versions: those are recognised by the owner
    that they had before, or by their template. What is its own version has none that outlives it.
    """
    uids = _uids(attempt, ref)
    if not uids:  # A recovery that found it gone: nothing says whose its pods were.
        return None
    own = [one for one in snapshot.revisions.values() if _is_of(attempt, ref, one)]
    return count_left(snapshot, own, uids)


def count_left(snapshot: Snapshot, own: Iterable[Revision], uids: Collection[str]) -> int | None:
    """Count the pods of a workload with these uids that count, None if that is not known.

    A pod loses its owner before or after its version does: the watches have no common order. One
    without an owner that is of no version known here may be an orphan of it all the same.
    """
    kind = snapshot.kind
    owners = ("", *uids)
    keys = {kind.key_of_revision(replace(one, owner_uid=uid)) for one in own for uid in owners}
    there = [track.pod for track in snapshot.pods.values() if track.counts]
    left = [pod for pod in there if pod.owner_uid in uids or kind.key_of_pod(pod) in keys]
    if not left and any(not pod.owner_uid for pod in there):
        return None
    return len(left)


def _uids(attempt: Attempt, ref: Ref) -> set[str]:
    """Return the uids of the workload that this run found and of the one that it wrote."""
    written, live = attempt.ledger.written.get(ref), attempt.plan.target(ref).snapshot.live
    found = {live.uid if live is not None else "", written.after.uid if written is not None else ""}
    return found - {""}


def _is_of(attempt: Attempt, ref: Ref, revision: Revision) -> bool:
    uids = _uids(attempt, ref)
    if revision.owner_uid:
        return revision.owner_uid in uids
    before = attempt.plan.target(ref).snapshot.revisions.get(revision.uid)
    if before is not None:
        return before.owner_uid in uids
    return revision.template.body in _templates(attempt, ref)


def _templates(attempt: Attempt, ref: Ref) -> list[Body]:
    """Return the templates that this run wrote: on a way back both that and the one before it."""
    rollout, written = attempt.workloads.rollouts.get(ref), attempt.ledger.written.get(ref)
    found = [rollout.applied.template.body] if rollout is not None else []
    if written is not None and written.after.workload is not None:
        found.append(written.after.workload.template.body)
    return found


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
    if seen["namespace_goes"] and (what := _name_running(workload)):
        return f"{what}, until namespace {workload['namespace']} is gone; {pods}"
    if seen["done"]:
        last = f"not known: it was deleted; {pods} when last seen"
        return last if seen["pods"] else "nothing: it was deleted, and no pod of it was left"
    waits = f" and waits for {', '.join(seen['finalizers'])}" if seen["finalizers"] else ""
    return f"{pods if seen['pods'] else 'no pod'}; it is being deleted{waits}"


def _name_running(workload: WorkloadResult) -> str:
    """Say which version runs, "" where that is not known."""
    version = {"new": workload["new"], "baseline": workload["baseline"]}.get(workload["running"])
    if version is not None:
        return ", ".join(version["images"])
    return "pods of more than one version" if workload["running"] == "mixed" else ""


def _describe_pods(seen: DeletionResult) -> str:
    if seen["pods"] is None:
        return "its pods were not seen"
    if not seen["pods"]:
        return "no pod of it was left"
    return f"{seen['pods']} of its pods {'was' if seen['pods'] == 1 else 'were'} still there"
