"""Pods as controllers count them, and how a controller makes one of a template.

Rules of `pkg/controller/controller_utils.go` and `pkg/api/v1/pod`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.controllers.ownership import controller_reference
from sandbox.json import JSON
from sandbox.times import Timers

ENDED = frozenset({"Failed", "Succeeded"})


def phase(pod: JSON) -> str:
    """Return the phase; a pod that nobody reported on is pending."""
    found: str = (pod.get("status") or {}).get("phase", "Pending")
    return found


def is_deleting(pod: JSON) -> bool:
    """Say whether its deletion has begun."""
    return "deletionTimestamp" in pod["metadata"]


def is_active(pod: JSON) -> bool:
    """Say whether it counts: it has not ended and is not being deleted."""
    return phase(pod) not in ENDED and not is_deleting(pod)


def is_terminating(pod: JSON) -> bool:
    """Say whether it is being deleted and still runs."""
    return phase(pod) not in ENDED and is_deleting(pod)


def ready_condition(pod: JSON) -> JSON | None:
    """Return the condition Ready where it is true."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition["type"] == "Ready":
            return condition if condition["status"] == "True" else None
    return None


def is_ready(pod: JSON) -> bool:
    """Say whether its condition Ready is true."""
    return ready_condition(pod) is not None


def available_in_seconds(pod: JSON, ready_seconds: int, timers: Timers) -> float | None:
    """Return how long until a ready pod counts as available, None where it is not ready.

    Not positive: it is available. Times in objects are whole seconds, so that `minReadySeconds`
    are up to a second short.
    """
    condition = ready_condition(pod)
    if condition is None:
        return None
    if ready_seconds == 0:
        return 0.0
    since = condition.get("lastTransitionTime")
    return timers.seconds_until(since, ready_seconds) if since else None


def is_available(pod: JSON, ready_seconds: int, timers: Timers) -> bool:
    """Say whether it has been ready for as long as it has to be."""
    wait = available_in_seconds(pod, ready_seconds, timers)
    return wait is not None and wait <= 0


def next_available_seconds(
    pods: Iterable[JSON], ready_seconds: int, timers: Timers
) -> float | None:
    """Return how long until the next ready pod becomes available, None where none is about to."""
    waits = (available_in_seconds(pod, ready_seconds, timers) for pod in pods)
    return min((wait for wait in waits if wait is not None and wait > 0), default=None)


def from_template(owner: JSON, template: JSON) -> JSON:
    """Return a pod to create: the template's labels, annotations, finalizers and spec."""
    found = template.get("metadata") or {}
    kept = {
        name: found[name] for name in ("labels", "annotations", "finalizers") if found.get(name)
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{owner['metadata']['name']}-",
            **kept,
            "ownerReferences": [controller_reference(owner)],
        },
        "spec": template["spec"],
    }
