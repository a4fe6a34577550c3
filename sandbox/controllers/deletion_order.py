"""Which pods of a ReplicaSet go first when there are too many.

The order is that of `ActivePodsWithRanks` in `pkg/controller/controller_utils.go`, cheapest loss
first.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from sandbox.controllers.pods import is_active, is_ready, phase, ready_since
from sandbox.json import JSON
from sandbox.times import since_epoch

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
        return _by_state(one, other) or rank or _by_age(one, other, now)

    return sorted(pods, key=functools.cmp_to_key(compare_pods))


def _by_state(one: JSON, other: JSON) -> int:
    """Compare by node, phase, readiness and cost: what serves least is smallest."""
    return _compare(_state(one), _state(other))


def _state(pod: JSON) -> tuple[bool, int, bool, int]:
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
