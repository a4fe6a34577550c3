"""What Deployments and ReplicaSets say of themselves, with the defaults of the API.

How many pods a ReplicaSet gets as plain arithmetic (`pkg/controller/deployment/util`); revisions
and the other annotations that the Deployment controller keeps on ReplicaSets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sandbox.controllers.bounds import resolve_bound
from sandbox.json import JSON


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a rollout may go beyond its size, and below it."""

    surge: int
    unavailable: int


def limits(strategy: dict[str, Any], replicas: int) -> Limits:
    """Return what a Deployment's strategy allows; nothing where all pods are recreated."""
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return Limits(0, 0)
    rolling = strategy.get("rollingUpdate") or {}
    surge = resolve_bound(rolling.get("maxSurge"), replicas, up=True)
    unavailable = resolve_bound(rolling.get("maxUnavailable"), replicas, up=False)
    if surge == 0 and unavailable == 0:
        # Rounding made both zero, and something has to move: surge may fail by a quota.
        unavailable = 1
    return Limits(surge, min(unavailable, replicas))


def new_size(*, replicas: int, surge: int, new: int, everything: int) -> int:
    """Return what the new ReplicaSet of a rolling update may grow to.

    `everything` is the size of all ReplicaSets together, the new one's of `new` with them.
    """
    room = replicas + surge - everything
    return new + min(room, replicas - new) if room > 0 else new


@dataclass(frozen=True, slots=True)
class Share:
    """A ReplicaSet that takes part in a scaling; `most_before` is its max-replicas annotation."""

    name: str
    size: int
    most_before: int | None


def proportional(shares: list[Share], *, replicas: int, surge: int, actual: int) -> dict[str, int]:
    """Return new sizes that keep the proportions; `shares` are sorted, the largest first.

    `actual` stands in for a missing annotation: the pods that the Deployment has now. What
    rounding leaves over goes to the first.
    """
    most = replicas + surge if replicas > 0 else 0
    to_add = most - sum(share.size for share in shares)
    sizes: dict[str, int] = {}
    added = 0
    for share in shares:
        part = _part(share, replicas, replicas + surge, actual)
        change = _clamp_part(part, to_add, added) if share.size else 0
        sizes[share.name] = share.size + change
        added += change
    if shares and to_add:
        first = shares[0].name
        sizes[first] = max(0, sizes[first] + to_add - added)
    return sizes


def _part(share: Share, replicas: int, most: int, actual: int) -> int:
    """Return by how much a ReplicaSet would change if only its proportion counted."""
    if replicas == 0:
        return -share.size
    before = share.most_before or actual
    # Half is rounded away from zero; sizes are never negative.
    return math.floor(share.size * most / before + 0.5) - share.size if before else 0


def _clamp_part(part: int, to_add: int, added: int) -> int:
    left = to_add - added
    if left == 0 or to_add == 0:
        return 0
    return min(part, left) if to_add > 0 else max(part, left)


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


HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        HISTORY,
        DESIRED,
        MOST,
        "deprecated.deployment.rollback.to",
    }
)
LONGEST_HISTORY = 2000
"""Characters of the revision history; beyond them the oldest revisions are dropped."""
_COUNT: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
"""An annotation that is a number: anybody may write something else into it."""


def with_annotations(body: JSON, found: dict[str, str]) -> JSON:
    """Return a copy of an object with other annotations; the rest is shared."""
    return {**body, "metadata": {**body["metadata"], "annotations": found}}


def annotated_as_new(deployment: JSON, replica_set: JSON, new_revision: int) -> JSON:
    """Return the Deployment's ReplicaSet with its annotations and a revision of at least this.

    The very same object is returned where nothing has to change. A ReplicaSet that gets a higher
    revision than it had is returned to: what it was stays in its history.
    """
    own = annotations_of(deployment)
    found = {**annotations_of(replica_set)}
    found |= {key: value for key, value in own.items() if key not in NOT_COPIED}
    before = found.get(REVISION)
    if before is not None and not _COUNT.fullmatch(before):
        return replica_set
    if int(before or 0) < new_revision:
        found[REVISION] = str(new_revision)
        if before is not None:
            found[HISTORY] = append_revision(found.get(HISTORY, ""), before)
    return (
        replica_set
        if found == annotations_of(replica_set)
        else with_annotations(replica_set, found)
    )


def append_revision(history: str, revision: str) -> str:
    """Return a history with one more revision, without the oldest where it gets too long."""
    kept = [each for each in history.split(",") if each]
    while kept and len(",".join([*kept, revision])) > LONGEST_HISTORY:
        kept.pop(0)
    return ",".join([*kept, revision])


def replica_annotations(deployment: JSON) -> dict[str, str]:
    """Return what tells a ReplicaSet the size of its Deployment, which shows when it was scaled."""
    replicas = size(deployment)
    return {DESIRED: str(replicas), MOST: str(replicas + limits_of(deployment).surge)}


def read_noted_count(replica_set: JSON, name: str) -> int | None:
    """Return a count that was noted in an annotation, None where there is none that is one."""
    found = annotations_of(replica_set).get(name, "")
    return int(found) if _COUNT.fullmatch(found) and int(found) < 2**31 else None
