"""What the Deployment controller writes: sizes of ReplicaSets, and statuses.

A status is written with the version that the controller's cache had. Where the controller wrote
in the same sync before, the second write conflicts and the sync is tried again: so does the real
one, and the states between are seen by whoever watches.
"""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.controllers.deployment.facts import (
    annotations_of,
    replica_annotations,
    size,
    with_annotations,
)
from sandbox.controllers.ownership import DEPLOYMENTS, key_of
from sandbox.controllers.recorder import Recorder
from sandbox.json import JSON

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
