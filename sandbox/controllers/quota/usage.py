"""What an object uses of a quota: itself, and a pod's requests and limits.

Rules of `pkg/quota/v1/evaluator/core`: pods, `count/...`, the old names of counts, cpu, memory and
ephemeral storage. Scopes that ask for a priority class or affinity name no pod here.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.quantity import Quantity, parse_quantity
from sandbox.times import Timers

Usage = dict[str, Quantity]

ONE = parse_quantity("1")
NOTHING = parse_quantity("0")
MEASURED = ("cpu", "memory", "ephemeral-storage")
REQUIRED = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
OLD_NAMES = frozenset({"configmaps", "secrets", "services", "persistentvolumeclaims"}) | {
    "resourcequotas"
}


def names_of(resource: Resource) -> frozenset[str]:
    """Return the quota's names that objects of a resource count for."""
    counted = {f"count/{resource.key}"}
    if resource.key == "pods":
        measured = {f"{prefix}{name}" for name in MEASURED for prefix in ("", *_PREFIXES)}
        return frozenset({"pods", *counted, *measured})
    if resource.key in OLD_NAMES:
        return frozenset({resource.key, *counted})
    return frozenset(counted)


_PREFIXES = ("requests.", "limits.")


def usage_of(resource: Resource, body: JSON, timers: Timers) -> Usage:
    """Return what an object uses; a pod that has ended only counts as an object."""
    found: Usage = {f"count/{resource.key}": ONE}
    if resource.key == "pods":
        return found | (_of_pod(body) if _counts(body, timers) else {})
    if resource.key in OLD_NAMES:
        found[resource.key] = ONE
    return found


def missing_from(pod: JSON, required: Iterable[str]) -> str:
    """Say what the containers of a pod leave out that a quota limits, empty where nothing."""
    wanted = sorted(REQUIRED.intersection(required))
    spec = pod["spec"]
    containers = [*spec.get("containers", ()), *(spec.get("initContainers") or ())]
    lacking = {
        name: sorted(each["name"] for each in containers if name not in _of_container(each))
        for name in wanted
    }
    told = [f"{name} for: {','.join(names)}" for name, names in lacking.items() if names]
    return f"must specify {'; '.join(told)}" if told else ""


def matches_scopes(quota: JSON, pod: JSON) -> bool:
    """Say whether a pod is one of those that a quota's scopes name."""
    spec = quota["spec"]
    selector = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    scopes = [*(spec.get("scopes") or ()), *(each["scopeName"] for each in selector)]
    return all(_in_scope(scope, pod) for scope in scopes)


def add_usage(one: Usage, other: Usage) -> Usage:
    """Return the sum."""
    names = {**one, **other}
    return {name: _sum(one.get(name, NOTHING), other.get(name, NOTHING)) for name in names}


def _sum(one: Quantity, other: Quantity) -> Quantity:
    """Add; the sum is written as the first is, unless that is nothing."""
    family = one.family if one.nanos else other.family
    return Quantity(one.nanos + other.nanos, family)


def _in_scope(scope: str, pod: JSON) -> bool:
    terminating = pod["spec"].get("activeDeadlineSeconds") is not None
    best_effort = not any(_of_container(each) for each in pod["spec"].get("containers", ()))
    answers = {
        "Terminating": terminating,
        "NotTerminating": not terminating,
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
    }
    return answers.get(scope, False)


def _counts(pod: JSON, timers: Timers) -> bool:
    """Say whether a pod counts: it has not ended, and is not overdue to be gone."""
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return False
    metadata = pod["metadata"]
    stamp, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if stamp is None or grace is None:
        return True
    return timers.seconds_until(stamp, grace) >= 0


def _of_pod(pod: JSON) -> Usage:
    """Return a pod's usage: its containers together, or an init container that needs more."""
    spec = pod["spec"]
    total: Usage = {}
    for container in spec.get("containers", ()):
        total = add_usage(total, _of_container(container))
    for container in spec.get("initContainers") or ():
        needed = _of_container(container)
        if container.get("restartPolicy") == "Always":
            total = add_usage(total, needed)
        else:
            total = {name: _more(total, needed, name) for name in {**total, **needed}}
    return {"pods": ONE, **add_usage(total, _of_overhead(spec))}


def _more(one: Usage, other: Usage, name: str) -> Quantity:
    return max(one.get(name, NOTHING), other.get(name, NOTHING), key=lambda each: each.nanos)


def _of_container(container: JSON) -> Usage:
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    found: Usage = {}
    for name in MEASURED:
        if name in requests:
            found[name] = found[f"requests.{name}"] = parse_quantity(str(requests[name]))
        if name in limits:
            found[f"limits.{name}"] = parse_quantity(str(limits[name]))
    return found


def _of_overhead(spec: JSON) -> Usage:
    overhead = spec.get("overhead") or {}
    return _of_container({"resources": {"requests": overhead}}) if overhead else {}
