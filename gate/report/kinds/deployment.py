"""A Deployment in a report: its versions are ReplicaSets, which count their pods themselves."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.snapshot import Snapshot
from gate.report.kinds.kind import Branch, WorkloadKind


def _branches(snapshot: Snapshot) -> tuple[Branch, ...]:
    pods: dict[str, list[PodTrack]] = defaultdict(list)
    for track in snapshot.pods.values():
        pods[track.pod.owner_uid].append(track)
    owned = sorted(snapshot.list_owned(), key=lambda one: -(one.revision or 0))
    return tuple(
        Branch(
            one.uid,
            one.name,
            one.revision,
            one.template.images(),
            one.replicas,
            one.ready_replicas,
            one.available_replicas,
            bool(one.replicas or one.status_replicas),
            one.failure.message if one.failure is not None else "",
            tuple(pods[one.uid]),
        )
        for one in owned
    )


def _counts(snapshot: Snapshot) -> str:
    """Say what is wanted, and what is ready in all versions, as their ReplicaSets count it."""
    live = snapshot.live
    if live is None:
        return ""
    ready = sum(replica_set.ready_replicas for replica_set in snapshot.list_owned())
    revision = f"revision {live.revision}, " if live.revision is not None else ""
    paused = ", paused" if live.paused else ""
    noun = "pod" if live.replicas == 1 else "pods"
    return f"{revision}{live.replicas} {noun} wanted, {ready} ready{paused}"


def _counters(snapshot: Snapshot) -> dict[str, int]:
    """Return `spec.replicas` as `wanted`, and the counters of the status (apps/v1)."""
    live = snapshot.live
    if live is None:
        return {}
    return {
        "wanted": live.replicas,
        "total": live.status_replicas,
        "updated": live.updated_replicas,
        "ready": live.ready_replicas,
        "available": live.available_replicas,
    }


DEPLOYMENT: Final = WorkloadKind(
    "Deployment", "ReplicaSet", "replicasets,pods", _branches, _counts, _counters
)
