"""What belonged to a Deployment when it was judged, and at the end: ReplicaSets with their pods."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.rollout.snapshot import Snapshot
from gate.report.document.branches import Branch, branches_of
from gate.report.document.pods import pod_lines
from gate.report.document.versions import judged_rollout, new_replica_set
from gate.report.schema.result import ReplicaSetResult, TreeResult

MOST_REPLICA_SETS = 6


def trees(attempt: Attempt, ref: Ref) -> list[TreeResult]:
    """Return the tree at the verdict and, after a way back, the one at the end.

    Empty if nothing was followed.
    """
    judged, latest = judged_rollout(attempt, ref), attempt.workloads.rollouts.get(ref)
    if judged is None:
        return []
    new = new_replica_set(judged)
    uid = new.uid if new is not None else ""
    found: list[TreeResult] = [_tree("verdict", judged.snapshot, uid)]
    if latest is not None and latest is not judged:
        found.append(_tree("end", latest.snapshot, uid))
    return found


def _tree(moment: str, snapshot: Snapshot, new_uid: str) -> TreeResult:
    """Return the ReplicaSets that have or want pods, the new one first, then by revision."""
    branches = branches_of(snapshot)
    there = [one for one in branches if one.uid == new_uid or one.has_pods]
    there.sort(key=lambda one: one.uid != new_uid)
    return {
        "moment": "end" if moment == "end" else "verdict",
        "replicasets": [_branch(one, new_uid) for one in there[:MOST_REPLICA_SETS]],
    }


def _branch(one: Branch, new_uid: str) -> ReplicaSetResult:
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
