"""Namespaces: those that are always there, and what being terminated forbids."""

from __future__ import annotations

from sandbox.api.registry import Registry
from sandbox.failure import ApiError, forbidden, not_found
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.storage.store import Key

DEFAULT_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
UNDELETABLE = ("default", "kube-public", "kube-system")
FINALIZER = "kubernetes"
NAME_LABEL = "kubernetes.io/metadata.name"


def namespace_key(name: str) -> Key:
    """Return where a namespace is stored."""
    return Key("namespaces", "", name)


def found_cluster(registry: Registry) -> None:
    """Create the namespaces that every cluster has; kube-system's uid names the cluster."""
    for name in DEFAULT_NAMESPACES:
        if registry.store.get(namespace_key(name)) is None:
            registry.keep(namespace_key(name), _namespace(registry, name))


def check_open(registry: Registry, resource: Resource, namespace: str, name: str) -> None:
    """404 where the namespace of a new object is missing, 403 where it is being terminated."""
    if not resource.namespaced:
        return
    found = registry.store.get(namespace_key(namespace))
    if found is None:
        raise not_found("namespaces", "", namespace)
    if found["metadata"].get("deletionTimestamp"):
        raise _terminating(resource, namespace, name)


def check_deletable(resource: Resource, name: str) -> None:
    """403 for the namespaces that a cluster cannot be without."""
    if resource.key == "namespaces" and name in UNDELETABLE:
        raise forbidden("namespaces", "", name, "this namespace may not be deleted")


def _terminating(resource: Resource, namespace: str, name: str) -> ApiError:
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    refusal = forbidden(resource.plural, resource.group, name, why)
    refusal.details["causes"] = [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
    ]
    return refusal


def _namespace(registry: Registry, name: str) -> JSON:
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": registry.names.uid(),
            "creationTimestamp": registry.timers.wall(),
            "labels": {NAME_LABEL: name},
        },
        "spec": {"finalizers": [FINALIZER]},
        "status": {"phase": "Active"},
    }
