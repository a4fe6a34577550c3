"""Old ReplicaSets that a Deployment no longer keeps (`revisionHistoryLimit`)."""

from __future__ import annotations

from sandbox.controllers.deployment.facts import (
    NO_LIMIT,
    age_key,
    count,
    revision,
    size,
)
from sandbox.controllers.deployment.new_replica_set import Sets
from sandbox.controllers.deployment.writes import Writes
from sandbox.failure import ApiError
from sandbox.json import JSON

NOT_FOUND = 404


def clean_up(writes: Writes, deployment: JSON, sets: Sets) -> None:
    """Delete the lowest revisions beyond the limit, but none that has pods or is to have some."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    if limit in (None, NO_LIMIT):
        return
    alive = [each for each in sets.old if "deletionTimestamp" not in each["metadata"]]
    alive.sort(key=lambda each: (revision(each), *age_key(each)))
    for each in alive[: max(0, len(alive) - limit)]:
        if _is_empty(each):
            _delete(writes, each)


def _is_empty(replica_set: JSON) -> bool:
    observed = count(replica_set, "observedGeneration")
    known = observed >= replica_set["metadata"]["generation"]
    return known and size(replica_set) == 0 and count(replica_set, "replicas") == 0


def _delete(writes: Writes, replica_set: JSON) -> None:
    try:
        writes.delete(replica_set)
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
