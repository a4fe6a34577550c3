"""The kinds that make no pods: a row each."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.manifests.kinds.kind import Kind, Rank, UpdateLimits, usual


def _unusual(api_version: str, name: str, plural: str, rank: Rank) -> Kind:
    return replace(usual(api_version, name, plural, rank), usual=False)


def _cluster(api_version: str, name: str, plural: str, rank: Rank = Rank.CLUSTER) -> Kind:
    return replace(_unusual(api_version, name, plural, rank), namespaced=False)


_RBAC: Final = "rbac.authorization.k8s.io/v1"
_ADMISSION: Final = "admissionregistration.k8s.io/v1"
_LIMITS: Final = UpdateLimits(
    instead="or give it another name, and refer to that in the pod template"
)

KINDS_WITHOUT_PODS: Final = (
    replace(usual("v1", "ConfigMap", "configmaps", Rank.CONFIGURATION), update_limits=_LIMITS),
    replace(usual("v1", "Secret", "secrets", Rank.CONFIGURATION), update_limits=_LIMITS),
    usual("v1", "PersistentVolumeClaim", "persistentvolumeclaims", Rank.CONFIGURATION),
    usual("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", Rank.CONFIGURATION),
    usual(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        Rank.CONFIGURATION,
    ),
    usual("v1", "ServiceAccount", "serviceaccounts", Rank.IDENTITIES),
    usual("v1", "Service", "services", Rank.SERVICES),
    usual("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", Rank.LIMITS),
    usual("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", Rank.LIMITS),
    usual("networking.k8s.io/v1", "Ingress", "ingresses", Rank.ROUTES),
    usual(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        Rank.SCALING,
        older=("v1",),
    ),
    _unusual("v1", "LimitRange", "limitranges", Rank.LIMITS),
    _unusual("v1", "ResourceQuota", "resourcequotas", Rank.LIMITS),
    _unusual("v1", "PodTemplate", "podtemplates", Rank.CONFIGURATION),
    _unusual("v1", "Endpoints", "endpoints", Rank.SERVICES),
    _unusual("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", Rank.SERVICES),
    _unusual("coordination.k8s.io/v1", "Lease", "leases", Rank.CONFIGURATION),
    _unusual(_RBAC, "Role", "roles", Rank.IDENTITIES),
    _unusual(_RBAC, "RoleBinding", "rolebindings", Rank.IDENTITIES),
    _cluster(_RBAC, "ClusterRole", "clusterroles", Rank.IDENTITIES),
    _cluster(_RBAC, "ClusterRoleBinding", "clusterrolebindings", Rank.IDENTITIES),
    _cluster("v1", "Namespace", "namespaces"),
    _cluster("v1", "PersistentVolume", "persistentvolumes"),
    _cluster("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions"),
    _cluster("networking.k8s.io/v1", "IngressClass", "ingressclasses"),
    _cluster("node.k8s.io/v1", "RuntimeClass", "runtimeclasses"),
    _cluster("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
    _cluster("storage.k8s.io/v1", "StorageClass", "storageclasses"),
    _cluster("apiregistration.k8s.io/v1", "APIService", "apiservices", Rank.ADMISSION),
    *(
        _cluster(_ADMISSION, name, f"{name.lower()}s", Rank.ADMISSION)
        for name in (
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        )
    ),
)
