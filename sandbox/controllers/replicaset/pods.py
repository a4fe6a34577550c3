"""Pods as a ReplicaSet counts them: which are its, which are ready, since when."""

from __future__ import annotations

from sandbox.controllers.moments import Moments
from sandbox.controllers.ownership import controller_reference
from sandbox.json import JSON

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


def ready_since(pod: JSON) -> str:
    """Return since when it is ready, empty where it is not."""
    return (ready_condition(pod) or {}).get("lastTransitionTime") or ""


def available_in_seconds(pod: JSON, ready_seconds: int, moments: Moments) -> float | None:
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
    return moments.seconds_until(since, ready_seconds) if since else None


def from_template(replica_set: JSON) -> JSON:
    """Return a pod to create: the template's labels, annotations, finalizers and spec."""
    template = replica_set["spec"]["template"]
    found = template.get("metadata") or {}
    kept = {
        name: found[name] for name in ("labels", "annotations", "finalizers") if found.get(name)
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{replica_set['metadata']['name']}-",
            **kept,
            "ownerReferences": [controller_reference(replica_set, "apps/v1", "ReplicaSet")],
        },
        "spec": template["spec"],
    }
