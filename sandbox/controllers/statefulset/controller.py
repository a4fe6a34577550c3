"""The StatefulSet controller: what wakes it, and what one sync does to pods, claims and status.

Rules of `pkg/controller/statefulset` (`stateful_set.go`, `stateful_set_control.go`,
`stateful_pod_control.go`) with the gate MaxUnavailableStatefulSet off, as it is in v1.36. So a pod
that is not available stops all work on those above it, also where another template would mend it
(kubernetes#67250).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from sandbox.api.api import Api
from sandbox.controllers.adoption import Claim
from sandbox.controllers.history import History, Revisions
from sandbox.controllers.ownership import STATEFUL_SETS, key_of
from sandbox.controllers.pod_controller import PodController
from sandbox.controllers.pods import ENDED, is_available, is_deleting
from sandbox.controllers.queue import Informer
from sandbox.controllers.recorder import Recorder
from sandbox.controllers.statefulset.pods import (
    claim_owners,
    claims_of,
    is_stale_claim,
    is_unavailable,
    new_pod,
    ordinal_of,
    ordinals_of,
    parent_of,
    partition_of,
    phase_of,
    revision_of,
    serves,
)
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.storage.store import Key
from sandbox.times import Timers

CLAIMS = "persistentvolumeclaims"
ALREADY_EXISTS = "AlreadyExists"
HASH_LABEL = "controller.kubernetes.io/hash"


class StatefulSetController(PodController):
    """Syncs each StatefulSet that changed, or whose pods did."""

    def __init__(
        self, api: Api, stateful_sets: Informer, revisions: Informer, pods: Informer
    ) -> None:
        super().__init__(api, STATEFUL_SETS, "statefulset-controller", stateful_sets, pods)
        self._history = History(api, STATEFUL_SETS, revisions, HASH_LABEL)
        self._writes = Writes(api, self._recorder)

    def _sync(self, key: Key) -> None:
        stateful_set = self._owners.get(key)
        if stateful_set is None:
            return
        name = stateful_set["metadata"]["name"]
        pods = Claim(self._api, STATEFUL_SETS, key, stateful_set).of(
            self._pods, lambda pod: parent_of(pod) == name
        )
        revisions = self._history.sync(key, stateful_set)
        sync = _Sync.of(stateful_set, revisions, pods, self._timers)
        failure = None
        try:
            sync.work(self._writes)
        except ApiError as error:
            failure = error
        status = sync.status()
        if _differs(status, stateful_set.get("status") or {}):
            self._write_status(key, stateful_set, status)
        self._truncate(stateful_set, sync, pods)
        self._end_sync(key, stateful_set, pods, failure)

    def _truncate(self, stateful_set: JSON, sync: _Sync, pods: list[JSON]) -> None:
        live = {sync.current["metadata"]["name"], sync.update["metadata"]["name"]}
        live |= {revision_of(pod) for pod in pods}
        old = [each for each in sync.revisions.every if each["metadata"]["name"] not in live]
        limit = stateful_set["spec"]["revisionHistoryLimit"]
        self._history.truncate(old, (), len(old) - limit)


_COMPARED = (
    "replicas",
    "readyReplicas",
    "availableReplicas",
    "currentReplicas",
    "updatedReplicas",
    "currentRevision",
    "updateRevision",
)


def _differs(status: JSON, before: JSON) -> bool:
    """Say whether a status is worth a write."""
    is_newer: bool = status["observedGeneration"] > before.get("observedGeneration", 0)
    return is_newer or any((status[name] or 0) != before.get(name, 0) for name in _COMPARED)


class Writes:
    """Creates and deletes pods and claims, and says so in events."""

    def __init__(self, api: Api, recorder: Recorder) -> None:
        self._api = api
        self._recorder = recorder

    def create(self, stateful_set: JSON, pod: JSON) -> None:
        """Create a pod and before it the claims that it mounts."""
        self.create_claims(stateful_set, pod)
        namespace = stateful_set["metadata"]["namespace"]
        try:
            self._api.create("pods", namespace, pod, STATEFUL_SETS)
        except ApiError as error:
            if error.reason != ALREADY_EXISTS:
                self._say(stateful_set, "Create", f"Pod {_name(pod)}", error)
            raise
        self.own_claims(stateful_set, pod)
        self._say(stateful_set, "Create", f"Pod {_name(pod)}")

    def delete(self, stateful_set: JSON, pod: JSON) -> None:
        """Begin to delete a pod."""
        try:
            self._api.delete(key_of("pods", pod), STATEFUL_SETS)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                self._say(stateful_set, "Delete", f"Pod {_name(pod)}", error)
                raise
        self._say(stateful_set, "Delete", f"Pod {_name(pod)}")

    def create_claims(self, stateful_set: JSON, pod: JSON) -> None:
        """Create the claims of a pod that are missing."""
        namespace = stateful_set["metadata"]["namespace"]
        for claim in claims_of(stateful_set, pod):
            if self._live_claim(namespace, claim) is None:
                self._api.create(CLAIMS, namespace, claim, STATEFUL_SETS)
                what = f"Claim {_name(claim)} Pod {_name(pod)}"
                message = f"Create {what} in StatefulSet {_name(stateful_set)} success"
                self._recorder.normal(stateful_set, "SuccessfulCreate", message)

    def own_claims(self, stateful_set: JSON, pod: JSON) -> None:
        """Have the claims of a pod go with the StatefulSet or the pod, as its policy says."""
        for claim in claims_of(stateful_set, pod):
            live = self._live_claim(stateful_set["metadata"]["namespace"], claim)
            if live is None or is_stale_claim(live, pod) or is_stale_claim(live, stateful_set):
                continue
            found = live["metadata"].get("ownerReferences") or []
            owners = claim_owners(stateful_set, pod, found)
            if owners != found:
                owned = {**live, "metadata": {**live["metadata"], "ownerReferences": owners}}
                self._api.update(key_of(CLAIMS, live), owned, STATEFUL_SETS)

    def has_stale_claim(self, stateful_set: JSON, pod: JSON) -> bool:
        """Say whether a pod has to wait until a claim of its former self is gone."""
        namespace = stateful_set["metadata"]["namespace"]
        live = (self._live_claim(namespace, claim) for claim in claims_of(stateful_set, pod))
        return any(claim is not None and is_stale_claim(claim, pod) for claim in live)

    def _live_claim(self, namespace: str, claim: JSON) -> JSON | None:
        return self._api.store.get(Key(CLAIMS, namespace, _name(claim)))

    def _say(self, about: JSON, verb: str, what: str, error: ApiError | None = None) -> None:
        message = f"{verb} {what} in StatefulSet {_name(about)}"
        if error is None:
            self._recorder.normal(about, f"Successful{verb}", f"{message} successful")
        else:
            self._recorder.warning(about, f"Failed{verb}", f"{message} failed error: {error}")


def _name(body: JSON) -> str:
    return str(body["metadata"]["name"])


@dataclass(slots=True)
class _Sync:
    """One sync: `replicas` by their ordinal, those to create among them, `condemned` beyond."""

    stateful_set: JSON
    revisions: Revisions
    current: JSON
    replicas: list[JSON]
    condemned: list[JSON]
    timers: Timers
    deleted_for_update: bool = False

    @classmethod
    def of(
        cls, stateful_set: JSON, revisions: Revisions, pods: Iterable[JSON], timers: Timers
    ) -> _Sync:
        """Lay out the pods that there are and those that are missing."""
        current_name = (stateful_set.get("status") or {}).get("currentRevision", "")
        current = revisions.find(current_name) or revisions.current
        ordinals = ordinals_of(stateful_set)
        found = {ordinal_of(pod): pod for pod in pods}
        replicas = [
            found.pop(ordinal, {}) or new_pod(stateful_set, ordinal, current, revisions.current)
            for ordinal in ordinals
        ]
        condemned = [found[ordinal] for ordinal in sorted(found, reverse=True) if ordinal >= 0]
        return cls(stateful_set, revisions, current, replicas, condemned, timers)

    @property
    def update(self) -> JSON:
        """The revision that pods are updated to."""
        return self.revisions.current

    @property
    def _ready_seconds(self) -> int:
        return int(self.stateful_set["spec"].get("minReadySeconds", 0))

    def _is_unavailable(self, pod: JSON) -> bool:
        return is_unavailable(pod, self._ready_seconds, self.timers)

    def work(self, writes: Writes) -> None:
        """Create, condemn, update: each only once what comes before it is done."""
        if is_deleting(self.stateful_set):
            return
        in_order = self.stateful_set["spec"]["podManagementPolicy"] != "Parallel"
        for pod in self.replicas:
            if self._bring_up(writes, pod, in_order=in_order) and in_order:
                return
        for pod in self.condemned:
            writes.own_claims(self.stateful_set, pod)
        for pod in self.condemned:
            self._condemn(writes, pod, in_order=in_order)
            if in_order:
                return
        if self.stateful_set["spec"]["updateStrategy"]["type"] == "RollingUpdate":
            self._roll(writes)

    def _bring_up(self, writes: Writes, pod: JSON, *, in_order: bool) -> bool:
        """Bring a pod up; say whether those above it have to wait."""
        phase = phase_of(pod)
        if phase in ENDED:
            if not is_deleting(pod):
                writes.delete(self.stateful_set, pod)
            return True
        if not phase:
            if writes.has_stale_claim(self.stateful_set, pod):
                return True
            writes.create(self.stateful_set, pod)
            return True
        if phase == "Pending":
            writes.create_claims(self.stateful_set, pod)
        waits = self._is_unavailable(pod) or phase != "Running"
        if not (waits and in_order):
            writes.own_claims(self.stateful_set, pod)
        return waits

    def _condemn(self, writes: Writes, pod: JSON, *, in_order: bool) -> None:
        """Delete a pod beyond the ordinals; in order none that is ill before one below it is."""
        below = self.condemned[self.condemned.index(pod) + 1 :]
        waits = self._is_unavailable(pod) and any(map(self._is_unavailable, below))
        if not is_deleting(pod) and not (in_order and waits):
            writes.delete(self.stateful_set, pod)

    def _roll(self, writes: Writes) -> None:
        """Delete the highest pod of another revision, unless one above it is not available."""
        for pod in reversed(self.replicas[partition_of(self.stateful_set) :]):
            if revision_of(pod) != _name(self.update) and not is_deleting(pod):
                writes.delete(self.stateful_set, pod)
                self.deleted_for_update = True
                return
            if self._is_unavailable(pod):
                return

    def status(self) -> JSON:
        """Return the status: pods as they were found, those that were created not counted yet."""
        pods = [pod for pod in (*self.replicas, *self.condemned) if phase_of(pod)]
        ready = [pod for pod in pods if serves(pod)]
        staying = [revision_of(pod) for pod in pods if not is_deleting(pod)]
        status = {
            "observedGeneration": self.stateful_set["metadata"]["generation"],
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "availableReplicas": sum(
                is_available(pod, self._ready_seconds, self.timers) for pod in ready
            ),
            "currentReplicas": staying.count(_name(self.current)) - self.deleted_for_update,
            "updatedReplicas": staying.count(_name(self.update)),
            "currentRevision": _name(self.current),
            "updateRevision": _name(self.update),
            "collisionCount": 0,
        }
        return self._complete(status)

    def _complete(self, status: JSON) -> JSON:
        """Return a status whose update is the current revision where the update is done."""
        spec = self.stateful_set["spec"]
        counts = {status[name] for name in ("replicas", "readyReplicas", "updatedReplicas")}
        if spec["updateStrategy"]["type"] != "RollingUpdate" or counts != {spec["replicas"]}:
            return status
        updated = {"currentReplicas": status["updatedReplicas"]}
        return {**status, **updated, "currentRevision": status["updateRevision"]}
