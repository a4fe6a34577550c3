"""The ReplicaSet controller: what wakes it, what one sync does, and the status that it writes.

Rules of `pkg/controller/replicaset` (`replica_set.go`, `replica_set_utils.go`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sandbox.api.api import Api
from sandbox.controllers.adoption import Claim
from sandbox.controllers.informer import Informer
from sandbox.controllers.ownership import REPLICA_SETS, controller_uid
from sandbox.controllers.pod_writes import Expectations, Failure, PodOwners, PodWrites
from sandbox.controllers.pods import (
    from_template,
    is_active,
    is_available,
    is_ready,
    is_terminating,
    next_available_seconds,
)
from sandbox.controllers.queue import Later, WorkQueue
from sandbox.controllers.recorder import Recorder, find, without
from sandbox.controllers.replicaset.deletion_order import in_deletion_order
from sandbox.controllers.status import write_status
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
    counters = {
        "fullyLabeledReplicas": sum(
            has_labels(wanted, pod["metadata"].get("labels")) for pod in active
        ),
        "readyReplicas": sum(map(is_ready, active)),
        "availableReplicas": sum(is_available(pod, ready_seconds, timers) for pod in active),
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
        self._writes = PodWrites(api, REPLICA_SETS, self._recorder, self._expectations)
        self._replica_sets = replica_sets
        self._pods = pods
        self._queue: WorkQueue[Key] = WorkQueue(timers, self._sync, work_seconds=WORK_SECONDS)

    def start(self) -> None:
        """Begin to follow changes."""
        self._replica_sets.watch(self._on_replica_set)
        owners = PodOwners(self._replica_sets, self._queue.add, self._expectations)
        self._pods.watch(owners.hear)

    def _on_replica_set(self, change: Change) -> None:
        if change.type is ChangeType.DELETED:
            self._expectations.forget(change.key)
            if change.before is not None:
                self._recorder.forget(change.before["metadata"]["uid"])
        self._queue.add(change.key)

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
        active = Claim(self._api, REPLICA_SETS, key, replica_set).of(self._pods, is_active)
        counts = _Counts(active, _ending(replica_set, owned))
        missing = replica_set["spec"].get("replicas", 1) - len(active)
        if not may_act or not missing:
            self._report(key, replica_set, counts, None)
            return None
        new = [from_template(replica_set, replica_set["spec"]["template"])] * missing
        old = self._choose_for_deletion(replica_set, active, -missing)
        failure = self._writes.change(key, replica_set, new, old)
        return Later(PODS_SECONDS, partial(self._report, key, replica_set, counts, failure))

    def _choose_for_deletion(
        self, replica_set: JSON, active: list[JSON], count: int
    ) -> Sequence[JSON]:
        if count <= 0 or count >= len(active):
            return active if count > 0 else ()
        related = self._list_related_pods(replica_set)
        return in_deletion_order(active, related, self._timers.epoch())[:count]

    def _report(
        self, key: Key, replica_set: JSON, counts: _Counts, failure: Failure | None
    ) -> None:
        """Write what was counted before pods were created or deleted; fail where that failed."""
        status = calculate_status(replica_set, counts.active, counts.ending, failure, self._timers)
        write_status(self._api, REPLICA_SETS, key, replica_set, status)
        if failure is not None:
            raise failure
        self._count_again(key, replica_set, counts.active)

    def _list_related_pods(self, replica_set: JSON) -> list[JSON]:
        """Return the pods of all ReplicaSets that have the same owner."""
        owner = controller_uid(replica_set)
        together = [replica_set] if owner is None else self._replica_sets.controlled_by(owner)
        found = (self._pods.controlled_by(each["metadata"]["uid"]) for each in together)
        return [pod for pods in found for pod in pods]

    def _count_again(self, key: Key, replica_set: JSON, active: Sequence[JSON]) -> None:
        """Come back when the next ready pod will have become available."""
        ready_seconds = replica_set["spec"].get("minReadySeconds", 0)
        wait = next_available_seconds(active, ready_seconds, self._timers)
        if wait is not None:
            self._queue.add_after(key, wait)


def _ending(replica_set: JSON, owned: Sequence[JSON]) -> int:
    selector = replica_set["spec"]["selector"]
    ending = (pod for pod in owned if is_terminating(pod))
    return sum(selects(selector, pod["metadata"].get("labels")) for pod in ending)
