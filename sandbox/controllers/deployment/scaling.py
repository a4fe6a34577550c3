"""Sizes of ReplicaSets: one step of a rollout, a scaling without one, and what is cleaned up.

RollingUpdate (`pkg/controller/deployment/rolling.go`): the new ReplicaSet up as far as surge
allows, old ones down as it is available; one direction a sync, up first. Recreate: old pods first
have to be gone, those that are ending too. Old ReplicaSets go by `revisionHistoryLimit`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sandbox.controllers.deployment.facts import (
    DESIRED,
    MOST,
    NO_LIMIT,
    Sets,
    Writes,
    active,
    age_key,
    calculate_new_size,
    count,
    is_rolling,
    limits_of,
    read_noted_count,
    revision,
    size,
    total,
    total_size,
)
from sandbox.controllers.pods import ENDED, is_deleting, phase
from sandbox.controllers.queue import SyncError
from sandbox.failure import ApiError, forgiving_absence
from sandbox.json import JSON


def grow_new(writes: Writes, deployment: JSON, sets: Sets) -> bool:
    """Bring the new ReplicaSet nearer to its size; say whether it changed."""
    new, replicas = sets.new, size(deployment)
    if new is None or size(new) == replicas:
        return False
    if size(new) < replicas:
        replicas = calculate_new_size(deployment, size(new), total_size(sets.every))
    return writes.scale(deployment, new, replicas) is not None


def shrink_old(writes: Writes, deployment: JSON, sets: Sets) -> bool:
    """Bring the old ReplicaSets down as far as availability allows; say whether any changed.

    Pods that are not available go first, from all old ones: they hold up the rollout and nobody
    misses them. A refused write ends the step, and the next sync goes on.
    """
    old, new = sorted(active(sets.old), key=age_key), sets.new
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


def empty_old(writes: Writes, deployment: JSON, sets: Sets) -> bool:
    """Scale the old ReplicaSets to zero; say whether any had to be."""
    return bool([writes.scale(deployment, each, 0) for each in active(sets.old)])


def old_pods_run(sets: Sets, old_pods: Iterable[JSON]) -> bool:
    """Say whether an old ReplicaSet counts pods, or a pod of one has not ended."""
    return total(sets.old, "replicas") > 0 or any(phase(pod) not in ENDED for pod in old_pods)


def clean_up(writes: Writes, deployment: JSON, sets: Sets) -> None:
    """Delete the lowest revisions beyond the limit, but none that has pods or is to have some."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    if limit in (None, NO_LIMIT):
        return
    alive = [each for each in sets.old if not is_deleting(each)]
    alive.sort(key=lambda each: (revision(each), *age_key(each)))
    for each in alive[: max(0, len(alive) - limit)]:
        is_known = count(each, "observedGeneration") >= each["metadata"]["generation"]
        if is_known and size(each) == 0 and count(each, "replicas") == 0:
            with forgiving_absence():
                writes.delete(each)


def was_scaled(deployment: JSON, sets: Sets) -> bool:
    """Say whether a ReplicaSet with pods notes another size than the Deployment has."""
    found = (read_noted_count(each, DESIRED) for each in active(sets.every))
    return any(desired is not None and desired != size(deployment) for desired in found)


def scale(writes: Writes, deployment: JSON, sets: Sets) -> None:
    """Bring the ReplicaSets to the Deployment's size.

    The only one with pods, or the newest where none has, gets all of it. A new one that is
    complete leaves nothing to old ones. Otherwise all grow or shrink in proportion.
    """
    found = active(sets.every)
    newest = [sets.new] if sets.new is not None else sorted(sets.old, key=age_key)[-1:]
    if len(found) < 2:  # noqa: PLR2004 - one alone
        for only in found or newest:
            writes.scale(deployment, only, size(deployment))
    elif _is_saturated(deployment, sets.new):
        empty_old(writes, deployment, sets)
    elif is_rolling(deployment):
        _share_out(writes, deployment, found)


def _is_saturated(deployment: JSON, replica_set: JSON | None) -> bool:
    """Say whether a ReplicaSet has all pods of the Deployment, available, and both know it."""
    if replica_set is None:
        return False
    available = count(replica_set, "availableReplicas")
    found = {read_noted_count(replica_set, DESIRED), size(replica_set), available}
    return found == {size(deployment)}


def _share_out(writes: Writes, deployment: JSON, found: list[JSON]) -> None:
    """Scale ReplicaSets and keep their proportions; what rounding leaves goes to the largest."""
    replicas, surge = size(deployment), limits_of(deployment).surge
    left = to_add = (replicas + surge if replicas else 0) - total_size(found)
    # Of equal ones the newer grow first and the older shrink first.
    found = sorted(sorted(found, key=age_key, reverse=to_add > 0), key=size, reverse=True)
    sizes = []
    for each in found:
        part = _calculate_part(deployment, each, replicas + surge)
        change = (min if to_add > 0 else max)(part, left) if left else 0
        sizes.append(size(each) + change)
        left -= change
    sizes[0] = max(0, sizes[0] + left)
    for each, wanted in zip(found, sizes, strict=True):
        writes.scale_and_note(deployment, each, wanted)


def _calculate_part(deployment: JSON, replica_set: JSON, most: int) -> int:
    """Return by how much a ReplicaSet would change if only its proportion counted.

    Its annotation has the most that the Deployment had before; the pods of now stand in for it.
    """
    own = size(replica_set)
    before = read_noted_count(replica_set, MOST) or count(deployment, "replicas")
    if size(deployment) == 0:
        return -own
    # Half is rounded away from zero; sizes are never negative.
    return math.floor(own * most / before + 0.5) - own if before else 0
