"""Objects that need no judge: nothing but what was written is to come of them.

They say what others are to do or may do, and no controller has to bring them about. Of every other
object that is no workload, of custom resources above all, a status says whether it works.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gate.core.model.objects import Ref

_ADMISSION: Final = "admissionregistration.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        "ConfigMap",
        "Endpoints",
        "LimitRange",
        "PodTemplate",
        "ResourceQuota",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "coordination.k8s.io": ("Lease",),
    "discovery.k8s.io": ("EndpointSlice",),
    "networking.k8s.io": ("IngressClass", "NetworkPolicy"),
    "node.k8s.io": ("RuntimeClass",),
    "policy": ("PodDisruptionBudget",),
    "resource.k8s.io": ("DeviceClass", "ResourceClaimTemplate"),
    "scheduling.k8s.io": ("PriorityClass",),
    "storage.k8s.io": ("StorageClass",),
    _RBAC: ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    _ADMISSION: (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ),
}
"""By group; the status of a PodDisruptionBudget or a ResourceQuota counts what others do."""
_GROUPED: Final = frozenset((group, name) for group, names in _NAMES.items() for name in names)
NAMES: Final = frozenset(name for _, name in _GROUPED)
"""The names alone, as far as a reader knows no group."""


def is_configuration(ref: Ref, body: Mapping[str, Any]) -> bool:
    """Tell whether an object is all there once it is stored; `body` is its JSON.

    A Service of type LoadBalancer waits for an address (core/v1 ServiceSpec `type`).
    """
    group, _, _ = ref.api_version.rpartition("/")
    if (group, ref.kind) not in _GROUPED:
        return False
    spec = body.get("spec")
    return not (isinstance(spec, Mapping) and spec.get("type") == "LoadBalancer")
