"""Where kinds live: a static table of paths, and one question to the server for other kinds.

Discovery of the whole server would cost a request per group; the table costs none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gate.core.model.objects import Ref
from gate.kube.answers.failures import BadAnswer, NotFound
from gate.kube.client.client import Client
from gate.kube.kinds import registry
from gate.kube.kinds.resource import Resource, check_segment

NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
SECRETS = Resource("", "v1", "Secret", "secrets")
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
AUTOSCALERS = Resource("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
SCALED_OBJECTS = Resource("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects")
_REVIEWS = ("authorization.k8s.io", "v1")
RULES_REVIEWS = Resource(
    *_REVIEWS, "SelfSubjectRulesReview", "selfsubjectrulesreviews", namespaced=False
)
ACCESS_REVIEWS = Resource(
    *_REVIEWS, "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)
SELF_REVIEWS = Resource(
    "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False
)

_RBAC = ("rbac.authorization.k8s.io", "v1")
KNOWN: Mapping[tuple[str, str], Resource] = {
    (resource.api_version, resource.kind): resource
    for resource in (
        *registry.RESOURCES.values(),
        *registry.UNJUDGED,
        NAMESPACES,
        SECRETS,
        LEASES,
        AUTOSCALERS,
        SCALED_OBJECTS,
        Resource("", "v1", "ConfigMap", "configmaps"),
        Resource("", "v1", "Service", "services"),
        Resource("", "v1", "Endpoints", "endpoints"),
        Resource("", "v1", "ServiceAccount", "serviceaccounts"),
        Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
        Resource("", "v1", "LimitRange", "limitranges"),
        Resource("", "v1", "ResourceQuota", "resourcequotas"),
        Resource("", "v1", "PodTemplate", "podtemplates"),
        Resource("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
        Resource("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices"),
        Resource("networking.k8s.io", "v1", "Ingress", "ingresses"),
        Resource("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
        Resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        Resource(*_RBAC, "Role", "roles"),
        Resource(*_RBAC, "RoleBinding", "rolebindings"),
    )
}


class Resources:
    """Finds the path of any object, asking the server at most once for an unknown group."""

    def __init__(self, client: Client) -> None:
        """Begin with the static table."""
        self._client = client
        self._known = dict(KNOWN)
        self._defined: dict[tuple[str, str], Resource] = {}

    def define(self, resource: Resource) -> None:
        """Take note of a kind that the run itself is to define: the server may not serve it yet."""
        self._defined[resource.api_version, resource.kind] = resource

    def is_defined(self, ref: Ref) -> bool:
        """Tell whether the run itself is to define the kind of an object."""
        return (ref.api_version, ref.kind) in self._defined

    def of(self, api_version: str, kind: str) -> Resource:
        """Return the resource of a kind; NotFound if this server has no such kind.

        A kind that the run defines is the server's own as soon as it is asked for and served.
        """
        key = (api_version, kind)
        if key not in self._known:
            try:
                self._known.update(self._read_resources(api_version, kind))
            except NotFound:
                if key not in self._defined:
                    raise
        found = self._known.get(key) or self._defined.get(key)
        if found is None:
            raise _no_kind(api_version, kind)
        return found

    def path(self, ref: Ref, subresource: str = "") -> str:
        """Return the path of an object."""
        resource = self.of(ref.api_version, ref.kind)
        return resource.path(ref.namespace, ref.name, subresource)

    def _read_resources(self, api_version: str, kind: str) -> dict[tuple[str, str], Resource]:
        """Read the APIResourceList of one group and version (meta/v1)."""
        group, _, version = api_version.rpartition("/")
        prefix = "/apis" if group else "/api"
        try:
            body = self._client.get("/".join([prefix, *map(check_segment, api_version.split("/"))]))
        except NotFound as error:
            raise _no_kind(api_version, kind) from error
        return {
            (api_version, str(entry["kind"])): Resource(
                group,
                version,
                str(entry["kind"]),
                check_segment(entry["name"]),
                entry["namespaced"],
            )
            for entry in _entries(body)
        }


def _entries(body: bytes) -> list[dict[str, Any]]:
    """Return the entries that are resources, not subresources."""
    try:
        listed = json.loads(body)["resources"]
        return [entry for entry in listed if "/" not in entry["name"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadAnswer("the server's list of resources cannot be read") from error


def _no_kind(api_version: str, kind: str) -> NotFound:
    return NotFound(f"no kind {kind} in {api_version} on this server")
