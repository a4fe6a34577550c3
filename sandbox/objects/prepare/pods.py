"""What creation sets on a Pod: tolerations, priority, quality class."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.failure import forbidden
from sandbox.json import JSON
from sandbox.objects.quantity import parse_quantity

TOLERATED_SECONDS = 300
UNREACHABLE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The PriorityClasses that every cluster has; the kind itself is not served."""

_SIDES = ("limits", "requests")
_COMPUTE = ("cpu", "memory")


def prepared_pod(pod: JSON) -> JSON:
    """Return a Pod with its tolerations, priority, phase and quality class; 403 without class."""
    spec = {**pod["spec"], "tolerations": _tolerations(pod["spec"].get("tolerations", []))}
    _set_priority(pod["metadata"].get("name", ""), spec)
    status = {**pod["status"], "phase": "Pending", "qosClass": quality_class(spec)}
    return {**pod, "spec": spec, "status": status}


def _tolerations(given: list[JSON]) -> list[JSON]:
    """Add what the DefaultTolerationSeconds plugin adds, unless it is tolerated anyway."""
    missing = [
        taint for taint in UNREACHABLE_TAINTS if not any(_tolerates(each, taint) for each in given)
    ]
    return [*given, *map(_toleration, missing)]


def _toleration(taint: str) -> JSON:
    return {
        "key": taint,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": TOLERATED_SECONDS,
    }


def _tolerates(toleration: JSON, taint: str) -> bool:
    return toleration.get("key", "") in {"", taint} and toleration.get("effect", "") in {
        "",
        "NoExecute",
    }


def _set_priority(name: str, spec: JSON) -> None:
    """Set what the Priority plugin sets; 403 where it refuses."""
    wanted = spec.get("priorityClassName", "")
    if wanted and wanted not in PRIORITIES:
        raise forbidden("pods", "", name, f"no PriorityClass with name {wanted} was found")
    priority = PRIORITIES.get(wanted, 0)
    given = spec.get("priority")
    if given is not None and given != priority:
        says = (
            f"the integer value of priority ({given}) must not be provided in pod spec; priority"
            f" admission controller computed {priority} from the given PriorityClass name"
        )
        raise forbidden("pods", "", name, says)
    spec["priority"] = priority
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")


def quality_class(spec: JSON) -> str:
    """Return the class by which a node under pressure chooses: `status.qosClass`."""
    containers = [*(spec.get("containers") or ()), *spec.get("initContainers", ())]
    sides = [_amounts(each["resources"], side) for each in containers for side in _SIDES]
    if not any(sides):
        return "BestEffort"
    limits, requests = sides[0::2], sides[1::2]
    guaranteed = all(len(each) == len(_COMPUTE) for each in limits) and limits == requests
    return "Guaranteed" if guaranteed else "Burstable"


def _amounts(resources: JSON, side: str) -> dict[str, int]:
    entries: Mapping[str, str] = resources.get(side, {})
    amounts = {name: parse_quantity(entries[name]).nanos for name in _COMPUTE if name in entries}
    return {name: nanos for name, nanos in amounts.items() if nanos}
