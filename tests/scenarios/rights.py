"""What users of the scenarios may do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.bed.checked_gate import CheckedGate
from tests.cluster.kubelet.api import JSON

MakeGate = Callable[[Sequence[JSON]], CheckedGate]
"""Makes a gate with these RBAC rules and no other right."""
READING = ("get", "list", "watch")
LEASE_RULES = {
    "apiGroups": ["coordination.k8s.io"],
    "resources": ["leases"],
    "verbs": ["get", "create", "patch"],
}


def rules(*verbs_of_deployments: str) -> list[JSON]:
    """Return what an apply of a Deployment needs, with these verbs on Deployments."""

    def rule(group: str, verbs: tuple[str, ...], *resources: str) -> JSON:
        return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}

    watching = ("get", "list", "watch")
    return [
        rule("apps", verbs_of_deployments, "deployments"),
        rule("apps", watching, "replicasets"),
        rule("", watching, "pods", "events", "pods/log"),
    ]
