"""A Deployment that was scaled: sizes without a rollout, in proportion where one is under way."""

from __future__ import annotations

from sandbox.controllers.deployment.facts import (
    DESIRED,
    MOST,
    Share,
    active,
    age_key,
    by_age,
    count,
    is_rolling,
    limits_of,
    proportional,
    read_noted_count,
    size,
    total_size,
)
from sandbox.controllers.deployment.new_replica_set import Sets
from sandbox.controllers.deployment.writes import Writes
from sandbox.json import JSON


def was_scaled(deployment: JSON, sets: Sets) -> bool:
    """Say whether a ReplicaSet with pods notes another size than the Deployment has."""
    found = (read_noted_count(each, DESIRED) for each in active(sets.every))
    return any(desired is not None and desired != size(deployment) for desired in found)


def scale(writes: Writes, deployment: JSON, sets: Sets) -> None:
    """Bring the ReplicaSets to the Deployment's size.

    The only one with pods, or the newest where none has, gets all of it. A new one that is
    complete leaves nothing to old ones. Otherwise all grow or shrink in proportion.
    """
    single = _only_or_newest(sets)
    if single is not None:
        writes.scale(deployment, single, size(deployment))
    elif is_saturated(deployment, sets.new):
        for old in active(sets.old):
            writes.scale(deployment, old, 0)
    elif is_rolling(deployment):
        _share_out(writes, deployment, active(sets.every))


def is_saturated(deployment: JSON, replica_set: JSON | None) -> bool:
    """Say whether a ReplicaSet has all pods of the Deployment, available, and both know it."""
    wanted = size(deployment)
    return (
        replica_set is not None
        and read_noted_count(replica_set, DESIRED) == wanted
        and size(replica_set) == wanted
        and count(replica_set, "availableReplicas") == wanted
    )


def _only_or_newest(sets: Sets) -> JSON | None:
    found = active(sets.every)
    if len(found) == 1:
        return found[0]
    if found:
        return None
    if sets.new is not None:
        return sets.new
    return by_age(sets.old)[-1] if sets.old else None


def _share_out(writes: Writes, deployment: JSON, found: list[JSON]) -> None:
    replicas, surge = size(deployment), limits_of(deployment).surge
    growing = (replicas + surge if replicas else 0) > total_size(found)
    # Of equal ones the newer grow first and the older shrink first.
    found = sorted(sorted(found, key=age_key, reverse=growing), key=size, reverse=True)
    shares = [
        Share(each["metadata"]["name"], size(each), read_noted_count(each, MOST)) for each in found
    ]
    actual = count(deployment, "replicas")
    sizes = proportional(shares, replicas=replicas, surge=surge, actual=actual)
    for each in found:
        writes.scale_and_note(deployment, each, sizes[each["metadata"]["name"]])
