"""What Deployments and ReplicaSets say of themselves, with the defaults of the API."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.controllers.deployment.sizes import Limits, limits
from sandbox.json import JSON

NO_LIMIT = 2**31 - 1
"""What `progressDeadlineSeconds` and `revisionHistoryLimit` are where they do not count."""

REVISION = "deployment.kubernetes.io/revision"


def size(body: JSON) -> int:
    """Return `spec.replicas` of a Deployment or a ReplicaSet."""
    replicas: int = body["spec"].get("replicas", 1)
    return replicas


def count(replica_set: JSON, field: str) -> int:
    """Return a counter of a status."""
    found: int = (replica_set.get("status") or {}).get(field, 0)
    return found


def total_size(replica_sets: Iterable[JSON]) -> int:
    """Return the sum of the sizes asked for."""
    return sum(size(each) for each in replica_sets)


def total(replica_sets: Iterable[JSON], field: str) -> int:
    """Return the sum of a counter of the statuses."""
    return sum(count(each, field) for each in replica_sets)


def active(replica_sets: Iterable[JSON]) -> list[JSON]:
    """Return those that have pods or ought to."""
    return [each for each in replica_sets if size(each) > 0]


def limits_of(deployment: JSON) -> Limits:
    """Return the surge and the unavailability that a Deployment's strategy allows."""
    return limits(deployment["spec"].get("strategy") or {}, size(deployment))


def is_rolling(deployment: JSON) -> bool:
    """Say whether the strategy is RollingUpdate."""
    strategy = deployment["spec"].get("strategy") or {}
    return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")


def is_paused(deployment: JSON) -> bool:
    """Say whether the Deployment is paused."""
    return bool(deployment["spec"].get("paused"))


def deadline_seconds(deployment: JSON) -> int | None:
    """Return the progress deadline, None where progress is not judged."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds in (None, NO_LIMIT) else int(seconds)


def annotations_of(body: JSON) -> dict[str, str]:
    """Return the annotations; an empty map of its own where there are none."""
    return body["metadata"].get("annotations") or {}


def revision(replica_set: JSON) -> int:
    """Return the revision; 0 where it has none that can be read."""
    try:
        return int(annotations_of(replica_set).get(REVISION, "0"))
    except ValueError:
        return 0


def by_age(replica_sets: Iterable[JSON]) -> list[JSON]:
    """Return ReplicaSets from old to new, by name within a second."""
    return sorted(replica_sets, key=age_key)


def age_key(replica_set: JSON) -> tuple[str, str]:
    """Return what sorts from old to new."""
    metadata = replica_set["metadata"]
    return metadata.get("creationTimestamp") or "", metadata["name"]
