"""The ReplicaSet controller: what wakes it, what one sync does, and the status that it writes.

Rules of `pkg/controller/replicaset` (`replica_set.go`, `replica_set_utils.go`).
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from sandbox.api.api import Api
from sandbox.controllers.adoption import Claim
from sandbox.controllers.ownership import REPLICA_SETS, controller_uid
from sandbox.controllers.pod_controller import Failure, PodController
from sandbox.controllers.pods import (
    from_template,
    is_active,
    is_available,
    is_deleting,
    is_ready,
    is_terminating,
    phase,
    ready_since,
)
from sandbox.controllers.queue import Informer, Later
from sandbox.json import JSON
from sandbox.objects.conditions import conditions_of, find, without
from sandbox.objects.selectors import has_labels, selects
from sandbox.storage.store import Key
from sandbox.times import Timers, since_epoch

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
    found = conditions_of(replica_set)
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


PODS_SECONDS = 0.003
"""How long it takes to create or delete pods; the status is written after it."""


class ReplicaSetController(PodController):
    """Syncs each ReplicaSet that changed, or whose pods did."""

    def __init__(self, api: Api, replica_sets: Informer, pods: Informer) -> None:
        super().__init__(api, REPLICA_SETS, "replicaset-controller", replica_sets, pods)

    def _sync(self, key: Key) -> Later | None:
        replica_set = self._owners.get(key)
        if replica_set is None:
            return None
        # Asked before the pods are read, so that what is seen meanwhile is among them.
        may_act = self._expectations.is_met(key) and not is_deleting(replica_set)
        ending = self._count_ending(replica_set)
        active = Claim(self._api, REPLICA_SETS, key, replica_set).of(self._pods, is_active)
        missing = replica_set["spec"].get("replicas", 1) - len(active)
        if not may_act or not missing:
            self._report(key, replica_set, active, ending, None)
            return None
        new = [from_template(replica_set, replica_set["spec"]["template"])] * missing
        old = self._choose_for_deletion(replica_set, active, -missing)
        failure = self._change_pods(key, replica_set, new, old)
        report = partial(self._report, key, replica_set, active, ending, failure)
        return Later(PODS_SECONDS, report)

    def _count_ending(self, replica_set: JSON) -> int:
        selector = replica_set["spec"]["selector"]
        owned = self._pods.controlled_by(replica_set["metadata"]["uid"])
        ending = (pod for pod in owned if is_terminating(pod))
        return sum(selects(selector, pod["metadata"].get("labels")) for pod in ending)

    def _choose_for_deletion(
        self, replica_set: JSON, active: list[JSON], count: int
    ) -> Sequence[JSON]:
        """Return the pods that go; those of all ReplicaSets of the same owner tell which."""
        if count <= 0 or count >= len(active):
            return active if count > 0 else ()
        owner = controller_uid(replica_set)
        together = [replica_set] if owner is None else self._owners.controlled_by(owner)
        found = (self._pods.controlled_by(each["metadata"]["uid"]) for each in together)
        related = [pod for pods in found for pod in pods]
        return in_deletion_order(active, related, self._timers.epoch())[:count]

    def _report(
        self, key: Key, replica_set: JSON, active: list[JSON], ending: int, failure: Failure | None
    ) -> None:
        """Write what was counted before pods were created or deleted; fail where that failed."""
        status = calculate_status(replica_set, active, ending, failure, self._timers)
        self._write_status(key, replica_set, status)
        self._end_sync(key, replica_set, active, failure)


DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_NANOSECONDS = 1e9


def in_deletion_order(pods: Iterable[JSON], related: Iterable[JSON], now: float) -> list[JSON]:
    """Return pods, the first to delete first.

    `related` are the pods of all ReplicaSets of the same owner: who shares a node with more of
    them goes before. `now` is in seconds since the epoch: ages count by powers of two.
    """
    on_node = Counter(_node(pod) for pod in related if is_active(pod))

    def compare_pods(one: JSON, other: JSON) -> int:
        rank = _compare(on_node[_node(other)], on_node[_node(one)])
        return _compare(_state(one), _state(other)) or rank or _by_age(one, other, now)

    return sorted(pods, key=functools.cmp_to_key(compare_pods))


def _state(pod: JSON) -> tuple[bool, int, bool, int]:
    """Return node, phase, readiness and cost: what serves least is smallest."""
    return bool(_node(pod)), _PHASES.get(phase(pod), 0), is_ready(pod), _cost(pod)


def _by_age(one: JSON, other: JSON, now: float) -> int:
    """Compare by time of readiness, restarts and creation: what is proven least is smallest."""
    if is_ready(one) and is_ready(other):
        compared = _newer_first(one, other, (ready_since(one), ready_since(other)), now)
        if compared:
            return compared
    created = tuple(pod["metadata"].get("creationTimestamp") or "" for pod in (one, other))
    more_restarts = _compare(_restarts(other), _restarts(one))
    return more_restarts or _newer_first(one, other, (created[0], created[1]), now)


def _newer_first(one: JSON, other: JSON, times: tuple[str, str], now: float) -> int:
    """Compare ages in powers of two; within one, by uid, so that not all young ones go."""
    first, second = times
    if first == second:
        return 0
    if not first or not second:
        return 1 if first else -1
    of_age = _compare(_rank(first, now), _rank(second, now))
    return of_age or (-1 if one["metadata"]["uid"] < other["metadata"]["uid"] else 1)


def _rank(stamp: str, now: float) -> int:
    age = (now - since_epoch(stamp)) * _NANOSECONDS
    return int(math.log2(age)) if age >= 1 else -1


def _compare(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


def _node(pod: JSON) -> str:
    return pod["spec"].get("nodeName") or ""


def _cost(pod: JSON) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0


def _restarts(pod: JSON) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar among the init containers."""
    status = pod.get("status") or {}
    sidecars = {
        each["name"]
        for each in pod["spec"].get("initContainers") or ()
        if each.get("restartPolicy") == "Always"
    }
    regular = [each["restartCount"] for each in status.get("containerStatuses") or ()]
    beside = [
        each["restartCount"]
        for each in status.get("initContainerStatuses") or ()
        if each["name"] in sidecars
    ]
    return max(regular, default=0), max(beside, default=0)
