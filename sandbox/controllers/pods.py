"""Pods as controllers count them, and how a controller makes one of a template.

Rules of `pkg/controller/controller_utils.go` and `pkg/api/v1/pod`; bounds as in apimachinery
`util/intstr`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.controllers.ownership import controller_reference
from sandbox.json import JSON, dig
from sandbox.objects.conditions import conditions_of, find, is_true
from sandbox.times import Timers

ENDED = frozenset({"Failed", "Succeeded"})


def phase(pod: JSON) -> str:
    """Return the phase; a pod that nobody reported on is pending."""
    return str(dig(pod, "status", "phase") or "Pending")


def is_deleting(body: JSON) -> bool:
    """Say whether the deletion of an object has begun."""
    return "deletionTimestamp" in body["metadata"]


def is_active(pod: JSON) -> bool:
    """Say whether it counts: it has not ended and is not being deleted."""
    return phase(pod) not in ENDED and not is_deleting(pod)


def is_terminating(pod: JSON) -> bool:
    """Say whether it is being deleted and still runs."""
    return phase(pod) not in ENDED and is_deleting(pod)


def is_ready(pod: JSON) -> bool:
    """Say whether its condition Ready is true."""
    return is_true(pod, "Ready")


def ready_since(pod: JSON) -> str:
    """Return since when it is ready, empty where it is not."""
    found = find(conditions_of(pod), "Ready") if is_ready(pod) else None
    return str((found or {}).get("lastTransitionTime") or "")


def available_in_seconds(pod: JSON, ready_seconds: int, timers: Timers) -> float | None:
    """Return how long until a ready pod counts as available, None where it is not ready.

    Not positive: it is available. Times in objects are whole seconds, so that `minReadySeconds`
    are up to a second short.
    """
    if not is_ready(pod):
        return None
    since = ready_since(pod)
    if ready_seconds == 0:
        return 0.0
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


def resolve_bound(bound: int | str | None, replicas: int, *, up: bool) -> int:
    """Return `maxSurge` or `maxUnavailable` as a count; a percentage is rounded up or down."""
    if isinstance(bound, str):
        pods = int(bound.removesuffix("%")) * replicas
        return -(-pods // 100) if up else pods // 100
    return bound or 0


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
