"""The ReplicaSet controller: what wakes it, what one sync does, and the status that it writes.

Rules of `pkg/controller/replicaset` (`replica_set.go`, `replica_set_utils.go`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sandbox.api.api import Api
from sandbox.controllers.informer import Informer
from sandbox.controllers.ownership import (
    REPLICA_SETS,
    Claim,
    controller_of,
    controller_reference,
    controller_uid,
)
from sandbox.controllers.queue import Later, WorkQueue
from sandbox.controllers.recorder import Recorder, find, without
from sandbox.controllers.replicaset.pods import (
    available_in_seconds,
    is_active,
    is_deleting,
    is_terminating,
    ready_condition,
)
from sandbox.controllers.replicaset.replicas import Expectations, Failure, Replicas
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.objects.selectors import has_labels, selects
from sandbox.storage.store import Change, ChangeType, Key
from sandbox.times import Timers

REPLICA_FAILURE = "ReplicaFailure"


def calculate_status(
    replica_set: JSON,
    active: Sequence[JSON],
    terminating: int,
    failure: Exception | None,
    timers: Timers,
) -> JSON:
    """Return the status as of now; `failure` is what creating or deleting pods ended with."""
    spec = replica_set["spec"]
    wanted = (spec["template"].get("metadata") or {}).get("labels") or {}
    ready_seconds = spec.get("minReadySeconds", 0)
    waits = [available_in_seconds(pod, ready_seconds, timers) for pod in active]
    counters = {
        "fullyLabeledReplicas": sum(
            has_labels(wanted, pod["metadata"].get("labels")) for pod in active
        ),
        "readyReplicas": sum(ready_condition(pod) is not None for pod in active),
        "availableReplicas": sum(wait is not None and wait <= 0 for wait in waits),
    }
    conditions = _conditions(replica_set, len(active), failure, timers)
    return {
        "replicas": len(active),
        **{name: value for name, value in counters.items() if value},
        "terminatingReplicas": terminating,
        "observedGeneration": replica_set["metadata"]["generation"],
        **({"conditions": conditions} if conditions else {}),
    }


def _conditions(
    replica_set: JSON, active: int, failure: Exception | None, timers: Timers
) -> list[JSON]:
    """Return the conditions; a failure keeps the words and the time of its beginning."""
    found: list[JSON] = (replica_set.get("status") or {}).get("conditions") or []
    if failure is None:
        return without(found, REPLICA_FAILURE)
    if find(found, REPLICA_FAILURE) is not None:
        return found
    missing = active < replica_set["spec"].get("replicas", 1)
    failed = {
        "type": REPLICA_FAILURE,
        "status": "True",
        "lastTransitionTime": timers.wall(),
        "reason": "FailedCreate" if missing else "FailedDelete",
        "message": str(failure),
    }
    return [*found, failed]


RESOURCE = "replicasets.apps"

WORK_SECONDS = 0.005
"""How long a sync holds its ReplicaSet: what changes meanwhile is seen by one sync after it."""

PODS_SECONDS = 0.003
"""How long it takes to create or delete pods; the status is written after it."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """The pods of a ReplicaSet as one sync saw them."""

    active: list[JSON]
    ending: int


class ReplicaSetController:
    """Syncs each ReplicaSet that changed, or whose pods did."""

    def __init__(self, api: Api, timers: Timers, replica_sets: Informer, pods: Informer) -> None:
        self._api = api
        self._timers = timers
        self._expectations = Expectations(timers)
        self._recorder = Recorder(api, REPLICA_SETS, self._timers, "replicaset-controller")
        self._replicas = Replicas(api, self._recorder, self._expectations, self._timers)
        self._replica_sets = replica_sets
        self._pods = pods
        self._queue: WorkQueue[Key] = WorkQueue(timers, self._sync, work_seconds=WORK_SECONDS)

    def start(self) -> None:
        """Begin to follow changes."""
        self._replica_sets.watch(self._on_replica_set)
        self._pods.watch(self._on_pod)

    def _on_replica_set(self, change: Change) -> None:
        if change.type is ChangeType.DELETED:
            self._expectations.forget(change.key)
            if change.before is not None:
                self._recorder.forget(change.before["metadata"]["uid"])
        self._queue.add(change.key)

    def _on_pod(self, change: Change) -> None:
        pod = change.after
        if pod is None or is_deleting(pod):
            self._on_deletion(change.key, pod or change.before or {})
        elif change.before is None:
            self._on_creation(change.key, pod)
        else:
            self._on_update(change.key, change.before, pod)

    def _on_deletion(self, key: Key, pod: JSON) -> None:
        """A deletion counts from its beginning, once."""
        owner = self._owner(key.namespace, controller_of(pod))
        if owner is not None:
            self._expectations.forget_deletion(owner, key)
            self._queue.add(owner)

    def _on_creation(self, key: Key, pod: JSON) -> None:
        reference = controller_of(pod)
        if reference is None:
            self._wake_selecting(key.namespace, pod)
            return
        owner = self._owner(key.namespace, reference)
        if owner is not None:
            self._expectations.lower_creations(owner)
            self._queue.add(owner)

    def _on_update(self, key: Key, before: JSON, after: JSON) -> None:
        left, reference = controller_of(before), controller_of(after)
        if left is not None and left != reference:
            former = self._owner(key.namespace, left)
            if former is not None:
                self._queue.add(former)
        if reference is not None:
            owner = self._owner(key.namespace, reference)
            if owner is not None:
                self._queue.add(owner)
        elif left is not None or before["metadata"].get("labels") != after["metadata"].get(
            "labels"
        ):
            self._wake_selecting(key.namespace, after)

    def _wake_selecting(self, namespace: str, pod: JSON) -> None:
        labels = pod["metadata"].get("labels")
        for each in self._replica_sets.all():
            metadata = each["metadata"]
            if metadata["namespace"] == namespace and selects(each["spec"]["selector"], labels):
                self._queue.add(Key(RESOURCE, namespace, metadata["name"]))

    def _owner(self, namespace: str, reference: JSON | None) -> Key | None:
        if reference is None or reference["kind"] != "ReplicaSet":
            return None
        key = Key(RESOURCE, namespace, reference["name"])
        found = self._replica_sets.get(key)
        return key if found and found["metadata"]["uid"] == reference["uid"] else None

    def _sync(self, key: Key) -> Later | None:
        replica_set = self._replica_sets.get(key)
        if replica_set is None:
            self._expectations.forget(key)
            return None
        # Asked before the pods are read, so that what is seen meanwhile is among them.
        may_act = (
            self._expectations.is_met(key) and "deletionTimestamp" not in replica_set["metadata"]
        )
        owned = self._pods.controlled_by(replica_set["metadata"]["uid"])
        active = self._claim_pods(key, replica_set, owned)
        counts = _Counts(active, _ending(replica_set, owned))
        if not may_act or len(active) == replica_set["spec"].get("replicas", 1):
            self._report(key, replica_set, counts, None)
            return None
        related = partial(self._list_related_pods, replica_set)
        failure = self._replicas.bring(key, replica_set, active, related)
        return Later(PODS_SECONDS, partial(self._report, key, replica_set, counts, failure))

    def _report(
        self, key: Key, replica_set: JSON, counts: _Counts, failure: Failure | None
    ) -> None:
        """Write what was counted before pods were created or deleted; fail where that failed."""
        status = calculate_status(replica_set, counts.active, counts.ending, failure, self._timers)
        self._write(key, replica_set, status)
        if failure is not None:
            raise failure
        self._count_again(key, replica_set, counts.active)

    def _claim_pods(self, key: Key, replica_set: JSON, owned: list[JSON]) -> list[JSON]:
        free = self._pods.without_controller(key.namespace)
        reference = controller_reference(replica_set, "apps/v1", "ReplicaSet")
        claim = Claim(self._api, REPLICA_SETS, key, replica_set, reference)
        return claim.of("pods", [pod for pod in [*owned, *free] if is_active(pod)])

    def _list_related_pods(self, replica_set: JSON) -> list[JSON]:
        """Return the pods of all ReplicaSets that have the same owner."""
        owner = controller_uid(replica_set)
        together = [replica_set] if owner is None else self._replica_sets.controlled_by(owner)
        found = (self._pods.controlled_by(each["metadata"]["uid"]) for each in together)
        return [pod for pods in found for pod in pods]

    def _write(self, key: Key, replica_set: JSON, status: JSON) -> None:
        """Write a status that differs, over a newer version too: once more, then by a retry."""
        if status == replica_set.get("status"):
            return
        written = {**replica_set, "status": status}
        try:
            self._api.update(key, written, REPLICA_SETS, subresource="status")
        except ApiError:
            fresh = {**self._api.get(key), "status": status}
            self._api.update(key, fresh, REPLICA_SETS, subresource="status")

    def _count_again(self, key: Key, replica_set: JSON, active: Sequence[JSON]) -> None:
        """Come back when the next ready pod will have become available."""
        ready_seconds = replica_set["spec"].get("minReadySeconds", 0)
        waits = [available_in_seconds(pod, ready_seconds, self._timers) for pod in active]
        left = [wait for wait in waits if wait is not None and wait > 0]
        if left:
            self._queue.add_after(key, min(left))


def _ending(replica_set: JSON, owned: Sequence[JSON]) -> int:
    selector = replica_set["spec"]["selector"]
    ending = (pod for pod in owned if is_terminating(pod))
    return sum(selects(selector, pod["metadata"].get("labels")) for pod in ending)
