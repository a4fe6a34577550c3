"""Recreate: old pods first have to be gone, those that are ending too."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.controllers.deployment.facts import active, total
from sandbox.controllers.deployment.new_replica_set import Sets
from sandbox.controllers.deployment.writes import Writes
from sandbox.json import JSON

ENDED = frozenset({"Failed", "Succeeded"})


def empty_old(writes: Writes, deployment: JSON, sets: Sets) -> bool:
    """Scale the old ReplicaSets to zero; say whether any had to be."""
    scaled = [writes.scale(deployment, each, 0) for each in active(sets.old)]
    return bool(scaled)


def old_pods_run(sets: Sets, old_pods: Iterable[JSON]) -> bool:
    """Say whether an old ReplicaSet counts pods, or a pod of one has not ended."""
    if total(sets.old, "replicas") > 0:
        return True
    return any((pod.get("status") or {}).get("phase") not in ENDED for pod in old_pods)
