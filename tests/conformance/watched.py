"""What a watcher of one namespace sees: the lists it began with, every line, what stands now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.cluster.kubelet.api import JSON
from tests.conformance.bed import Bed
from tests.conformance.scenarios import NAME

RECORDED = {
    "deployments": "apis/apps/v1",
    "replicasets": "apis/apps/v1",
    "pods": "api/v1",
    "events": "api/v1",
}
PATHS = {**RECORDED, "resourcequotas": "api/v1"}
CONTROLLED = frozenset({"Deployment", "ReplicaSet"})


def path_of(resource: str, namespace: str, name: str = "") -> str:
    """Return the path of a collection, or of one object."""
    collection = f"/{PATHS[resource]}/namespaces/{namespace}/{resource}"
    return f"{collection}/{name}" if name else collection


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a watch; `at` is of the bed's time."""

    at: float
    type: str
    object: JSON
    raw: bytes


class Watched:
    """A namespace from now on."""

    def __init__(self, bed: Bed, namespace: str) -> None:
        """List everything, and watch from there."""
        self.lists: dict[str, JSON] = {}
        self.lines: list[Line] = []
        self._bed = bed
        self._objects: dict[str, JSON] = {}
        self._changes = 0
        for resource in PATHS:
            path = path_of(resource, namespace)
            self.lists[resource] = found = bed.json("GET", path)
            kind = {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List")}
            for item in found["items"]:
                self._objects[item["metadata"]["uid"]] = {**kind, **item}
            since = found["metadata"]["resourceVersion"]
            bed.watch(f"{path}?watch=1&resourceVersion={since}", self._hear)

        self.before = [*self._objects.values()]

    def _hear(self, at: float, raw: bytes) -> None:
        line = json.loads(raw)
        body = line["object"]
        uid = body["metadata"]["uid"]
        if line["type"] == "DELETED":
            self._objects.pop(uid, None)
        else:
            self._objects[uid] = body
        self._changes += body["kind"] in CONTROLLED
        self.lines.append(Line(at, line["type"], body, raw))

    def of(self, kind: str) -> list[JSON]:
        """Return the objects of a kind as they stand, in the order in which they came."""
        return [body for body in self._objects.values() if body["kind"] == kind]

    @property
    def deployment(self) -> JSON:
        """The Deployment as it stands, empty where there is none."""
        return next((b for b in self.of("Deployment") if b["metadata"]["name"] == NAME), {})

    @property
    def replica_sets(self) -> list[JSON]:
        """The ReplicaSets as they stand."""
        return self.of("ReplicaSet")

    @property
    def pods(self) -> list[JSON]:
        """The pods as they stand."""
        return self.of("Pod")

    def wait(self, holds: Callable[[Watched], bool], seconds: float) -> None:
        """Wait until it holds; TimeoutError, with what stands, where it does not in time."""
        if not self._bed.wait(lambda: holds(self), seconds):
            raise TimeoutError(json.dumps([*self._told()], indent=1))

    def wait_quiet(
        self, holds: Callable[[Watched], bool], seconds: float, quiet_seconds: float
    ) -> None:
        """Wait until it holds and the controllers have written nothing for a while."""
        until = self._bed.now() + seconds
        self.wait(holds, seconds)
        while self._changes_within(quiet_seconds):
            self.wait(holds, until - self._bed.now())

    def _changes_within(self, seconds: float) -> bool:
        before = self._changes
        return self._bed.wait(lambda: self._changes != before, seconds)

    def _told(self) -> Iterator[JSON]:
        for body in (self.deployment, *self.replica_sets, *self.pods):
            yield {"name": body["metadata"]["name"], "status": body.get("status")}


def is_settled(seen: Watched) -> bool:
    """Whether the rollout is complete, and nothing that it ended is left."""
    body = seen.deployment
    if not body:
        return False
    wanted, status = body["spec"]["replicas"], body.get("status", {})
    counters = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return (
        status.get("observedGeneration", 0) >= body["metadata"]["generation"]
        and all(status.get(counter, 0) == wanted for counter in counters)
        and not status.get("terminatingReplicas", 0)
        and not any("deletionTimestamp" in pod["metadata"] for pod in seen.pods)
        and all(_is_observed(replica_set) for replica_set in seen.replica_sets)
    )


def has_given_up(seen: Watched) -> bool:
    """Whether the controller says that the progress deadline is over, of what is there now."""
    body = seen.deployment
    if not body:
        return False
    status = body.get("status", {})
    reasons = {each["reason"] for each in status.get("conditions", ())}
    return (
        status.get("observedGeneration", 0) >= body["metadata"]["generation"]
        and "ProgressDeadlineExceeded" in reasons
    )


def _is_observed(replica_set: JSON) -> bool:
    status, spec = replica_set["status"], replica_set["spec"]
    observed = status.get("observedGeneration", 0) >= replica_set["metadata"]["generation"]
    return bool(observed and status.get("replicas", 0) == spec["replicas"])
