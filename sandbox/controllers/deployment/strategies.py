"""One step of a rollout, and what is cleaned up after it.

RollingUpdate (`pkg/controller/deployment/rolling.go`): the new ReplicaSet up as far as surge
allows, old ones down as it is available; one direction a sync, up first. Recreate: old pods first
have to be gone, those that are ending too. Old ReplicaSets go by `revisionHistoryLimit`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.controllers.deployment.facts import (
    NO_LIMIT,
    active,
    age_key,
    by_age,
    count,
    limits_of,
    new_size,
    revision,
    size,
    total,
    total_size,
)
from sandbox.controllers.deployment.new_replica_set import Sets
from sandbox.controllers.deployment.writes import Writes
from sandbox.controllers.queue import SyncError
from sandbox.failure import ApiError, forgiving_absence
from sandbox.json import JSON


def grow_new(writes: Writes, deployment: JSON, sets: Sets) -> bool:
    """Bring the new ReplicaSet nearer to its size; say whether it changed."""
    new = sets.new
    if new is None or size(new) == size(deployment):
        return False
    replicas = size(deployment)
    if size(new) < replicas:
        replicas = new_size(
            replicas=replicas,
            surge=limits_of(deployment).surge,
            new=size(new),
            everything=total_size(sets.every),
        )
    return writes.scale(deployment, new, replicas) is not None


def shrink_old(writes: Writes, deployment: JSON, sets: Sets) -> bool:
    """Bring the old ReplicaSets down as far as availability allows; say whether any changed.

    Pods that are not available go first, from all old ones: they hold up the rollout and nobody
    misses them. A refused write ends the step, and the next sync goes on.
    """
    old, new = by_age(active(sets.old)), sets.new
    if not old or new is None:
        return False
    least = size(deployment) - limits_of(deployment).unavailable
    unavailable = size(new) - count(new, "availableReplicas")
    room = total_size(sets.every) - least - unavailable
    if room <= 0:
        return False
    try:
        cleaned, old = _drop_unavailable(writes, deployment, old, room)
        spare = total([*old, new], "availableReplicas") - least
        dropped = _drop(writes, deployment, old, spare)
    except (ApiError, SyncError):
        return False
    return cleaned + dropped > 0


def _drop_unavailable(
    writes: Writes, deployment: JSON, old: list[JSON], most: int
) -> tuple[int, list[JSON]]:
    """Return how many went, and the old ReplicaSets as they are stored after it."""
    dropped = 0
    kept: list[JSON] = []
    for each in old:
        unavailable = size(each) - count(each, "availableReplicas")
        if dropped >= most or unavailable == 0:
            kept.append(each)
            continue
        if unavailable < 0:
            raise SyncError("its last scaling down is not seen yet")
        spare = min(most - dropped, unavailable)
        dropped += spare
        kept.append(writes.scale(deployment, each, size(each) - spare) or each)
    return dropped, kept


def _drop(writes: Writes, deployment: JSON, old: list[JSON], most: int) -> int:
    dropped = 0
    for each in old:
        spare = min(size(each), most - dropped)
        if spare > 0:
            writes.scale(deployment, each, size(each) - spare)
            dropped += spare
    return dropped


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


def clean_up(writes: Writes, deployment: JSON, sets: Sets) -> None:
    """Delete the lowest revisions beyond the limit, but none that has pods or is to have some."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    if limit in (None, NO_LIMIT):
        return
    alive = [each for each in sets.old if "deletionTimestamp" not in each["metadata"]]
    alive.sort(key=lambda each: (revision(each), *age_key(each)))
    for each in alive[: max(0, len(alive) - limit)]:
        if _is_empty(each):
            with forgiving_absence():
                writes.delete(each)


def _is_empty(replica_set: JSON) -> bool:
    observed = count(replica_set, "observedGeneration")
    known = observed >= replica_set["metadata"]["generation"]
    return known and size(replica_set) == 0 and count(replica_set, "replicas") == 0
