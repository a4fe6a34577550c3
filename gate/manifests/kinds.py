"""The kinds of Kubernetes: which are usual in a deployment, their scope and order of application.

The usual kinds are those that the built-in ClusterRole `edit` lets a developer write: they run and
configure workloads and widen nobody's rights. Two of its kinds are left out because they steer
others, Lease (the gate's own lock is one) and Event. Everything else needs `--allow-kind`: access
rights and webhooks, limits that administrators set, traffic to chosen addresses (EndpointSlice,
which `edit` lost over CVE-2021-25740), cluster-scoped kinds, custom kinds.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final


class Rank(enum.IntEnum):
    """The order of application: what others depend on comes first, what lets requests in last."""

    CLUSTER = enum.auto()
    LIMITS = enum.auto()
    IDENTITIES = enum.auto()
    CONFIGURATION = enum.auto()
    CUSTOM = enum.auto()
    SERVICES = enum.auto()
    WORKLOADS = enum.auto()
    SCALING = enum.auto()
    ROUTES = enum.auto()
    ADMISSION = enum.auto()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind; `versions` are those that supported servers serve, newest first.

    `pod_spec` is the path to the spec of the pods that an object of this kind makes, or empty.
    """

    group: str
    versions: tuple[str, ...]
    name: str
    plural: str
    rank: Rank
    namespaced: bool = True
    usual: bool = False
    pod_spec: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """The newest version, as objects name it."""
        return f"{self.group}/{self.versions[0]}".removeprefix("/")


def _usual(
    api_version: str,
    name: str,
    plural: str,
    rank: Rank,
    *pod_spec: str,
    older: tuple[str, ...] = (),
) -> Kind:
    group, _, version = api_version.rpartition("/")
    return Kind(group, (version, *older), name, plural, rank, usual=True, pod_spec=pod_spec)


def _unusual(api_version: str, name: str, plural: str, rank: Rank) -> Kind:
    group, _, version = api_version.rpartition("/")
    return Kind(group, (version,), name, plural, rank)


def _cluster(api_version: str, name: str, plural: str, rank: Rank = Rank.CLUSTER) -> Kind:
    group, _, version = api_version.rpartition("/")
    return Kind(group, (version,), name, plural, rank, namespaced=False)


_TEMPLATE: Final = ("spec", "template", "spec")
_RBAC: Final = "rbac.authorization.k8s.io/v1"
_ADMISSION: Final = "admissionregistration.k8s.io/v1"

KINDS: Final = (
    _usual("v1", "Pod", "pods", Rank.WORKLOADS, "spec"),
    _usual("v1", "ReplicationController", "replicationcontrollers", Rank.WORKLOADS, *_TEMPLATE),
    _usual("apps/v1", "DaemonSet", "daemonsets", Rank.WORKLOADS, *_TEMPLATE),
    _usual("apps/v1", "Deployment", "deployments", Rank.WORKLOADS, *_TEMPLATE),
    _usual("apps/v1", "ReplicaSet", "replicasets", Rank.WORKLOADS, *_TEMPLATE),
    _usual("apps/v1", "StatefulSet", "statefulsets", Rank.WORKLOADS, *_TEMPLATE),
    _usual("batch/v1", "Job", "jobs", Rank.WORKLOADS, *_TEMPLATE),
    _usual("batch/v1", "CronJob", "cronjobs", Rank.WORKLOADS, "spec", "jobTemplate", *_TEMPLATE),
    _usual("v1", "ConfigMap", "configmaps", Rank.CONFIGURATION),
    _usual("v1", "Secret", "secrets", Rank.CONFIGURATION),
    _usual("v1", "PersistentVolumeClaim", "persistentvolumeclaims", Rank.CONFIGURATION),
    _usual("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", Rank.CONFIGURATION),
    _usual(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        Rank.CONFIGURATION,
    ),
    _usual("v1", "ServiceAccount", "serviceaccounts", Rank.IDENTITIES),
    _usual("v1", "Service", "services", Rank.SERVICES),
    _usual("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", Rank.LIMITS),
    _usual("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", Rank.LIMITS),
    _usual("networking.k8s.io/v1", "Ingress", "ingresses", Rank.ROUTES),
    _usual(
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
"""Compared with `kubectl api-resources` and the role `edit` of Kubernetes v1.36."""

_BY_GROUP_AND_NAME: Final = {(kind.group, kind.name): kind for kind in KINDS}


def find(group: str, name: str) -> Kind | None:
    """Return the row of a kind in `KINDS`, None for custom ones."""
    return _BY_GROUP_AND_NAME.get((group, name))


def namesakes(name: str) -> tuple[Kind, ...]:
    """Return the rows of that name in any group: `Deployment` was once in `extensions`."""
    return tuple(kind for kind in KINDS if kind.name == name)
