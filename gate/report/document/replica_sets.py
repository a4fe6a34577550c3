"""What belonged to a Deployment when it was judged, and at the end: ReplicaSets with their pods."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref, ReplicaSet
from gate.core.rollout.snapshot import Snapshot
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
    owned = sorted(
        snapshot.list_owned(), key=lambda one: (one.uid != new_uid, -(one.revision or 0))
    )
    there = [one for one in owned if one.uid == new_uid or one.replicas or one.status_replicas]
    return {
        "moment": "end" if moment == "end" else "verdict",
        "replicasets": [_replica_set(snapshot, one, new_uid) for one in there[:MOST_REPLICA_SETS]],
    }


def _replica_set(snapshot: Snapshot, replica_set: ReplicaSet, new_uid: str) -> ReplicaSetResult:
    uid = replica_set.uid
    tracks = [track for track in snapshot.pods.values() if track.pod.owner_uid == uid]
    return {
        "name": replica_set.name,
        "role": "new" if uid == new_uid else "old",
        "revision": replica_set.revision,
        "images": list(replica_set.template.images()),
        "wanted": replica_set.replicas,
        "ready": replica_set.ready_replicas,
        "available": replica_set.available_replicas,
        "pods": pod_lines(tracks),
    }
