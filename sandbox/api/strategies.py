"""What differs between kinds when they are written (the strategies of the server's registry).

Measured on a v1.36 server, kind by kind: which count a generation and over which fields, what a
created object's status is, which update needs a resourceVersion, which creates.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.json import JSON
from sandbox.kinds import Resource

SPEC = ("spec",)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The rules of one resource."""

    generation_fields: tuple[str, ...] = ()
    """Top-level fields whose change counts; `annotations` stands for metadata.annotations.
    Empty: the kind has no generation."""

    initial_status: JSON = field(default_factory=dict)
    """What a created object's status is, whatever was sent."""

    keeps_sent_status: bool = False
    """A created object keeps the status that was sent (nodes)."""

    needs_version: bool = False
    """An update without a resourceVersion is invalid."""

    creates_on_update: bool = False
    """An update of a missing object creates it."""

    returns_deleted: bool = False
    """A deletion answers with the object, where others answer with a Status."""

    orphans_by_default: bool = False
    """Dependents stay unless the deletion says otherwise."""

    graceful: bool = False
    """Deletion waits for a node to end what runs (pods)."""


_RBAC = Strategy(creates_on_update=True)
_SPEC = Strategy(SPEC)
_DAEMON_STATUS = {
    "currentNumberScheduled": 0,
    "desiredNumberScheduled": 0,
    "numberMisscheduled": 0,
    "numberReady": 0,
}
_BUDGET_STATUS = {
    "currentHealthy": 0,
    "desiredHealthy": 0,
    "disruptionsAllowed": 0,
    "expectedPods": 0,
}

STRATEGIES = {
    "namespaces": Strategy(initial_status={"phase": "Active"}, returns_deleted=True),
    "nodes": Strategy(keeps_sent_status=True),
    "pods": Strategy(
        SPEC, initial_status={"phase": "Pending"}, returns_deleted=True, graceful=True
    ),
    "services": Strategy(initial_status={"loadBalancer": {}}, returns_deleted=True),
    "serviceaccounts": Strategy(returns_deleted=True),
    "persistentvolumeclaims": Strategy(initial_status={"phase": "Pending"}, returns_deleted=True),
    "resourcequotas": Strategy(returns_deleted=True),
    "events": Strategy(creates_on_update=True),
    "deployments.apps": Strategy(("spec", "annotations")),
    "replicasets.apps": Strategy(SPEC, initial_status={"replicas": 0}),
    "statefulsets.apps": Strategy(SPEC, initial_status={"availableReplicas": 0, "replicas": 0}),
    "daemonsets.apps": Strategy(SPEC, initial_status=_DAEMON_STATUS),
    "jobs.batch": Strategy(SPEC, orphans_by_default=True),
    "cronjobs.batch": _SPEC,
    "horizontalpodautoscalers.autoscaling": Strategy(
        initial_status={"currentMetrics": None, "desiredReplicas": 0}
    ),
    "poddisruptionbudgets.policy": Strategy(
        SPEC, initial_status=_BUDGET_STATUS, needs_version=True
    ),
    "ingresses.networking.k8s.io": Strategy(SPEC, initial_status={"loadBalancer": {}}),
    "networkpolicies.networking.k8s.io": _SPEC,
    "leases.coordination.k8s.io": Strategy(needs_version=True, creates_on_update=True),
    "roles.rbac.authorization.k8s.io": _RBAC,
    "rolebindings.rbac.authorization.k8s.io": _RBAC,
    "clusterroles.rbac.authorization.k8s.io": _RBAC,
    "clusterrolebindings.rbac.authorization.k8s.io": _RBAC,
}
_PLAIN = Strategy()


def strategy_of(resource: Resource) -> Strategy:
    """Return the rules of a resource; most kinds have none of their own."""
    return STRATEGIES.get(resource.key, _PLAIN)


def has_status(resource: Resource) -> bool:
    """Tell whether the status is written through its own subresource."""
    return "status" in resource.subresources
