"""The roles that every cluster has, and who is bound to them."""

from __future__ import annotations

from sandbox.access.identity import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from sandbox.access.rules import RBAC
from sandbox.api.api import Api, Key, Writer
from sandbox.json import JSON

SERVER = Writer("system:apiserver", "kube-apiserver")

_HEALTH_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_API_PATHS = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi"]
_API_PATHS += ["/openapi/*", "/readyz", "/version", "/version/"]
_SELF_REVIEWS = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]


def found_access(api: Api) -> None:
    """Create the cluster's own roles and bindings where they are missing."""
    for name, rules in _roles().items():
        _create(api, "clusterroles", name, {"rules": rules})
    for name, groups in _BINDINGS.items():
        reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
        subjects = [{"apiGroup": RBAC, "kind": "Group", "name": group} for group in groups]
        _create(api, "clusterrolebindings", name, {"roleRef": reference, "subjects": subjects})


_BINDINGS = {
    "cluster-admin": [MASTERS],
    "system:basic-user": [AUTHENTICATED],
    "system:discovery": [AUTHENTICATED],
    "system:public-info-viewer": [AUTHENTICATED, UNAUTHENTICATED],
}


def _roles() -> dict[str, list[JSON]]:
    return {
        "cluster-admin": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
            {"nonResourceURLs": ["*"], "verbs": ["*"]},
        ],
        "system:basic-user": [
            _rule("authorization.k8s.io", _SELF_REVIEWS, ["create"]),
            _rule("authentication.k8s.io", ["selfsubjectreviews"], ["create"]),
        ],
        "system:discovery": [{"nonResourceURLs": _API_PATHS, "verbs": ["get"]}],
        "system:public-info-viewer": [{"nonResourceURLs": _HEALTH_PATHS, "verbs": ["get"]}],
    }


def _rule(group: str, resources: list[str], verbs: list[str]) -> JSON:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _create(api: Api, plural: str, name: str, content: JSON) -> None:
    resource = f"{plural}.{RBAC}"
    if api.store.get(Key(resource, "", name)) is not None:
        return
    metadata = {
        "name": name,
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
    }
    api.create(resource, "", {"metadata": metadata, **content}, SERVER)
