"""The status of a ReplicaSet, counted from its pods.

Rules of `pkg/controller/replicaset/replica_set_utils.go`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.controllers.conditions import find, without
from sandbox.controllers.replicaset.pods import available_in_seconds, ready_condition
from sandbox.json import JSON
from sandbox.objects.selectors import has_labels
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
