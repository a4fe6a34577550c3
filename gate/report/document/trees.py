"""What belonged to a workload when it was judged, and at the end: its versions with their pods."""

from __future__ import annotations

from itertools import islice

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.rollout.snapshot import Snapshot
from gate.report.document.branches import Branch, branches_of
from gate.report.document.pods import pod_lines
from gate.report.document.versions import judged_rollout, latest_snapshot, new_revision
from gate.report.schema.result import PodShare, RevisionResult, TreeResult

MOST_REVISIONS = 6


def trees(attempt: Attempt, ref: Ref) -> list[TreeResult]:
    """Return the tree at the verdict and, after a way back, the one at the end.

    Empty if nothing was followed.
    """
    judged, latest = judged_rollout(attempt, ref), attempt.workloads.rollouts.get(ref)
    if judged is None:
        return []
    new = new_revision(judged)
    uid = new.uid if new is not None else ""
    found: list[TreeResult] = [_tree("verdict", judged.snapshot, uid)]
    if latest is not None and latest is not judged:
        found.append(_tree("end", latest.snapshot, uid))
    return found


def _tree(moment: str, snapshot: Snapshot, new_uid: str) -> TreeResult:
    """Return the versions that have or want pods, the new one first, then by revision."""
    branches = branches_of(snapshot)
    there = [one for one in branches if one.uid == new_uid or one.has_pods]
    there.sort(key=lambda one: one.uid != new_uid)
    return {
        "moment": "end" if moment == "end" else "verdict",
        "revisions": [_branch(one, new_uid) for one in there[:MOST_REVISIONS]],
    }


def pod_shares(attempt: Attempt, ref: Ref) -> list[PodShare]:
    """Return how many pods ran which version when it was seen last, the newest first."""
    judged, snapshot = judged_rollout(attempt, ref), latest_snapshot(attempt, ref)
    if snapshot is None:
        return []
    new = new_revision(judged) if judged is not None else None
    uid = new.uid if new is not None else ""
    found = (one for one in branches_of(snapshot) if one.count.created)
    return [_share(one, uid) for one in islice(found, MOST_REVISIONS)]


def _share(one: Branch, new_uid: str) -> PodShare:
    return {
        "name": one.name,
        "role": "new" if one.uid == new_uid else "old",
        "revision": one.number,
        "images": list(one.images),
        "pods": one.count.created,
    }


def _branch(one: Branch, new_uid: str) -> RevisionResult:
    return {
        "name": one.name,
        "role": "new" if one.uid == new_uid else "old",
        "revision": one.number,
        "images": list(one.images),
        "wanted": one.count.wanted,
        "ready": one.count.ready,
        "available": one.count.available,
        "pods": pod_lines(one.pods),
    }
