"""Every kind that the sandbox serves, and how the API names it."""

from __future__ import annotations

from dataclasses import dataclass

ALL_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Resource:
    """A row of discovery; kinds without a controller here are only kept."""

    group: str
    version: str
    plural: str
    kind: str
    short_names: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS

    @property
    def key(self) -> str:
        """The plural with its group, as the store and messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """What objects carry as apiVersion."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """The name of one."""
        return self.kind.lower()


_ALL = ("all",)
_STATUS = ("status",)
_SCALED = ("status", "scale")
_OF_PODS = ("status", "log", "eviction")
_RBAC = "rbac.authorization.k8s.io"

RESOURCES = (
    Resource(
        "", "v1", "namespaces", "Namespace", ("ns",), ("status", "finalize"), namespaced=False
    ),
    Resource("", "v1", "nodes", "Node", ("no",), _STATUS, namespaced=False),
    Resource("", "v1", "pods", "Pod", ("po",), _OF_PODS, _ALL),
    Resource("", "v1", "configmaps", "ConfigMap", ("cm",)),
    Resource("", "v1", "secrets", "Secret"),
    Resource("", "v1", "services", "Service", ("svc",), _STATUS, _ALL),
    Resource("", "v1", "serviceaccounts", "ServiceAccount", ("sa",)),
    Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", ("pvc",), _STATUS),
    Resource("", "v1", "resourcequotas", "ResourceQuota", ("quota",), _STATUS),
    Resource("", "v1", "events", "Event", ("ev",)),
    Resource("apps", "v1", "deployments", "Deployment", ("deploy",), _SCALED, _ALL),
    Resource("apps", "v1", "replicasets", "ReplicaSet", ("rs",), _SCALED, _ALL),
    Resource("apps", "v1", "statefulsets", "StatefulSet", ("sts",), _SCALED, _ALL),
    Resource("apps", "v1", "daemonsets", "DaemonSet", ("ds",), _STATUS, _ALL),
    Resource("apps", "v1", "controllerrevisions", "ControllerRevision"),
    Resource("batch", "v1", "jobs", "Job", (), _STATUS, _ALL),
    Resource("batch", "v1", "cronjobs", "CronJob", ("cj",), _STATUS, _ALL),
    Resource(
        "autoscaling",
        "v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        ("hpa",),
        _STATUS,
        _ALL,
    ),
    Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", ("pdb",), _STATUS),
    Resource("networking.k8s.io", "v1", "ingresses", "Ingress", ("ing",), _STATUS),
    Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", ("netpol",)),
    Resource("coordination.k8s.io", "v1", "leases", "Lease"),
    Resource(_RBAC, "v1", "roles", "Role"),
    Resource(_RBAC, "v1", "rolebindings", "RoleBinding"),
    Resource(_RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False),
    Resource(_RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
)
"""Reviews (`authorization.k8s.io`, `authentication.k8s.io`) are answered, not kept: they stand in
`access`."""

BY_KEY = {resource.key: resource for resource in RESOURCES}
BY_KIND = {(resource.api_version, resource.kind): resource for resource in RESOURCES}
