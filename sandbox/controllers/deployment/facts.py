"""What Deployments and ReplicaSets say of themselves, with the defaults of the API.

Rules of `pkg/controller/deployment/util`: sizes and their bounds, revisions, and the other
annotations that the Deployment controller keeps on ReplicaSets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from sandbox.api.api import Api
from sandbox.controllers.ownership import DEPLOYMENTS, key_of
from sandbox.controllers.pods import resolve_bound
from sandbox.controllers.recorder import Recorder
from sandbox.json import JSON, dig

NO_LIMIT = 2**31 - 1
"""What `progressDeadlineSeconds` and `revisionHistoryLimit` are where they do not count."""

REVISION = "deployment.kubernetes.io/revision"
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
_COUNT: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
"""An annotation that is a number: anybody may write something else into it."""


@dataclass(slots=True)
class Sets:
    """The ReplicaSets of a Deployment as its controller sees them in one sync."""

    new: JSON | None
    old: list[JSON]

    @property
    def every(self) -> list[JSON]:
        """All of them, the new one last."""
        return [*self.old, self.new] if self.new is not None else [*self.old]


class Limits(NamedTuple):
    """How far a rollout may go beyond its size, and below it."""

    surge: int
    unavailable: int


def limits_of(deployment: JSON) -> Limits:
    """Return what a Deployment's strategy allows; nothing where all pods are recreated."""
    if not is_rolling(deployment):
        return Limits(0, 0)
    rolling, replicas = dig(deployment, "spec", "strategy", "rollingUpdate") or {}, size(deployment)
    surge = resolve_bound(rolling.get("maxSurge"), replicas, up=True)
    unavailable = resolve_bound(rolling.get("maxUnavailable"), replicas, up=False)
    if surge == 0 and unavailable == 0:
        # Rounding made both zero, and something has to move: surge may fail by a quota.
        unavailable = 1
    return Limits(surge, min(unavailable, replicas))


def calculate_new_size(deployment: JSON, new: int, everything: int) -> int:
    """Return what the new ReplicaSet, of size `new`, may grow to; `everything` is all sizes."""
    replicas = size(deployment)
    room = replicas + limits_of(deployment).surge - everything
    return new + min(room, replicas - new) if room > 0 else new


def size(body: JSON) -> int:
    """Return `spec.replicas` of a Deployment or a ReplicaSet."""
    replicas: int = body["spec"].get("replicas", 1)
    return replicas


def count(replica_set: JSON, field: str) -> int:
    """Return a counter of a status."""
    return int(dig(replica_set, "status", field) or 0)


def total_size(replica_sets: Iterable[JSON]) -> int:
    """Return the sum of the sizes asked for."""
    return sum(map(size, replica_sets))


def total(replica_sets: Iterable[JSON], field: str) -> int:
    """Return the sum of a counter of the statuses."""
    return sum(count(each, field) for each in replica_sets)


def active(replica_sets: Iterable[JSON]) -> list[JSON]:
    """Return those that have pods or ought to."""
    return [each for each in replica_sets if size(each) > 0]


def is_rolling(deployment: JSON) -> bool:
    """Say whether the strategy is RollingUpdate."""
    kind = dig(deployment, "spec", "strategy", "type") or "RollingUpdate"
    return bool(kind == "RollingUpdate")


def is_paused(deployment: JSON) -> bool:
    """Say whether the Deployment is paused."""
    return bool(deployment["spec"].get("paused"))


def deadline_seconds(deployment: JSON) -> int | None:
    """Return the progress deadline, None where progress is not judged."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds in (None, NO_LIMIT) else int(seconds)


def age_key(replica_set: JSON) -> tuple[str, str]:
    """Return what sorts from old to new, by name within a second."""
    metadata = replica_set["metadata"]
    return metadata.get("creationTimestamp") or "", metadata["name"]


def annotations_of(body: JSON) -> dict[str, str]:
    """Return the annotations; an empty map of its own where there are none."""
    return body["metadata"].get("annotations") or {}


def with_annotations(body: JSON, found: dict[str, str]) -> JSON:
    """Return a copy of an object with other annotations; the rest is shared."""
    return {**body, "metadata": {**body["metadata"], "annotations": found}}


def revision(replica_set: JSON) -> int:
    """Return the revision; 0 where it has none that can be read."""
    try:
        return int(annotations_of(replica_set).get(REVISION, "0"))
    except ValueError:
        return 0


def annotated_as_new(deployment: JSON, replica_set: JSON, new_revision: int) -> JSON:
    """Return the Deployment's ReplicaSet with its annotations and a revision of at least this.

    The very same object is returned where nothing has to change. A ReplicaSet that gets a higher
    revision than it had is returned to: what it was stays in its history.
    """
    own, found = annotations_of(deployment), {**annotations_of(replica_set)}
    found |= {key: value for key, value in own.items() if key not in NOT_COPIED}
    before = found.get(REVISION)
    if before is not None and not _COUNT.fullmatch(before):
        return replica_set
    if int(before or 0) < new_revision:
        found[REVISION] = str(new_revision)
        if before is not None:
            kept = [each for each in found.get(HISTORY, "").split(",") if each]
            found[HISTORY] = ",".join([*kept, before])
    is_same = found == annotations_of(replica_set)
    return replica_set if is_same else with_annotations(replica_set, found)


def replica_annotations(deployment: JSON) -> dict[str, str]:
    """Return what tells a ReplicaSet the size of its Deployment, which shows when it was scaled."""
    replicas = size(deployment)
    return {DESIRED: str(replicas), MOST: str(replicas + limits_of(deployment).surge)}


def read_noted_count(replica_set: JSON, name: str) -> int | None:
    """Return a count that was noted in an annotation, None where there is none that is one."""
    found = annotations_of(replica_set).get(name, "")
    return int(found) if _COUNT.fullmatch(found) and int(found) < 2**31 else None


RESOURCE = "deployments.apps"
REPLICA_SETS = "replicasets.apps"


class Writes:
    """Writes of one controller; refusals are `ApiError`."""

    def __init__(self, api: Api, recorder: Recorder) -> None:
        self._api = api
        self._recorder = recorder

    def status(self, deployment: JSON) -> None:
        """Write a Deployment's status, and its annotations with it."""
        key = key_of(RESOURCE, deployment)
        self._api.update(key, deployment, DEPLOYMENTS, subresource="status")

    def replica_set(self, replica_set: JSON) -> JSON:
        """Write a ReplicaSet; return it as stored."""
        return self._api.update(key_of(REPLICA_SETS, replica_set), replica_set, DEPLOYMENTS)

    def scale(self, deployment: JSON, replica_set: JSON, replicas: int) -> JSON | None:
        """Give a ReplicaSet its size; return it as stored, None where it had that size."""
        before = size(replica_set)
        if before == replicas:
            return None
        scaled = self.replica_set(_with_size(deployment, replica_set, replicas))
        direction = "up" if before < replicas else "down"
        name = replica_set["metadata"]["name"]
        message = f"Scaled {direction} replica set {name} from {before} to {replicas}"
        self._recorder.normal(deployment, "ScalingReplicaSet", message)
        return scaled

    def scale_and_note(self, deployment: JSON, replica_set: JSON, replicas: int) -> None:
        """Give a ReplicaSet its size, and note the Deployment's on it where only that changed."""
        if self.scale(deployment, replica_set, replicas) is not None:
            return
        noted = _with_size(deployment, replica_set, replicas)
        if annotations_of(noted) != annotations_of(replica_set):
            self.replica_set(noted)

    def delete(self, replica_set: JSON) -> None:
        """Delete a ReplicaSet that has no pods."""
        self._api.delete(key_of(REPLICA_SETS, replica_set), DEPLOYMENTS)


def _with_size(deployment: JSON, replica_set: JSON, replicas: int) -> JSON:
    found = {**annotations_of(replica_set), **replica_annotations(deployment)}
    sized = {**replica_set, "spec": {**replica_set["spec"], "replicas": replicas}}
    return with_annotations(sized, found)
