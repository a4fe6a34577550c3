"""Validation of what is written to `status`: counters that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.validation.errors import (
    IMMUTABLE,
    Found,
    check_at_least_zero,
    check_messages,
    forbidden,
    invalid,
)
from sandbox.objects.validation.metadata import check_metadata_update
from sandbox.objects.validation.names import dns_subdomain, ip_address, label_key
from sandbox.objects.validation.quotas import check_amounts

DEPLOYMENT_COUNTERS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)
REPLICA_SET_COUNTERS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
)


def check_status_update(found: Found, resource: Resource, old: JSON, new: JSON) -> None:
    """An update through the status subresource."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    before, after = old.get("status", {}), new.get("status", {})
    if resource.key == "deployments.apps":
        _check_counters(found, after, DEPLOYMENT_COUNTERS, "updatedReplicas")
        count = after.get("collisionCount", 0)
        if count < before.get("collisionCount", 0):
            found.append(invalid("status.collisionCount", count, "cannot be decremented"))
    elif resource.key == "replicasets.apps":
        _check_counters(found, after, REPLICA_SET_COUNTERS, "fullyLabeledReplicas")
    elif check := _CHECKS.get(resource.key):
        check(found, old, new)


def _check_counters(found: Found, status: JSON, names: Sequence[str], part: str) -> None:
    for name in names:
        check_at_least_zero(found, f"status.{name}", status.get(name, 0))
    for name in (part, "readyReplicas", "availableReplicas"):
        if status.get(name, 0) > status.get("replicas", 0):
            says = "cannot be greater than status.replicas"
            found.append(invalid(f"status.{name}", status.get(name, 0), says))
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        says = "cannot be greater than readyReplicas"
        found.append(invalid("status.availableReplicas", available, says))


def _check_pod(found: Found, old: JSON, new: JSON) -> None:
    for index, condition in enumerate(new["status"].get("conditions", ())):
        kind = condition["type"]
        check_messages(found, f"status.conditions[{index}].Type", kind, label_key(kind))
    if old["spec"].get("nodeName") != new["spec"].get("nodeName"):
        found.append(forbidden("status.nodeName", "may not be changed directly"))
    quality = new["status"].get("qosClass", "")
    if quality != old.get("status", {}).get("qosClass", ""):
        found.append(invalid("status.qosClass", quality, IMMUTABLE))


def _check_phase(found: Found, old: JSON, namespace: JSON) -> None:
    del old
    phase = namespace["status"].get("phase", "")
    deleted = "deletionTimestamp" in namespace["metadata"]
    wanted, is_not = ("Terminating", "not ") if deleted else ("Active", "")
    if phase != wanted:
        says = f"may only be '{wanted}' if `deletionTimestamp` is {is_not}empty"
        found.append(invalid("status.Phase", phase, says))


def _check_quota(found: Found, old: JSON, new: JSON) -> None:
    del old
    for name in ("hard", "used"):
        check_amounts(found, f"status.{name}", new["status"].get(name, {}))


def _check_service(found: Found, old: JSON, new: JSON) -> None:
    del old
    field = "status.loadBalancer.ingress"
    ingresses = new["status"]["loadBalancer"].get("ingress", [])
    if ingresses and new["spec"]["type"] != "LoadBalancer":
        says = "may only be used when `spec.type` is 'LoadBalancer'"
        found.append(forbidden(field, says))
        return
    for index, ingress in enumerate(ingresses):
        if address := ingress.get("ip"):
            check_messages(found, f"{field}[{index}].ip", address, ip_address(address))
        if name := ingress.get("hostname"):
            check_messages(found, f"{field}[{index}].hostname", name, dns_subdomain(name))


def _check_autoscaler(found: Found, old: JSON, new: JSON) -> None:
    del old
    for name in ("currentReplicas", "desiredReplicas"):
        check_at_least_zero(found, f"status.{name}", new["status"].get(name, 0))


_CHECKS: Mapping[str, Callable[[Found, JSON, JSON], None]] = {
    "pods": _check_pod,
    "namespaces": _check_phase,
    "resourcequotas": _check_quota,
    "services": _check_service,
    "horizontalpodautoscalers.autoscaling": _check_autoscaler,
}
