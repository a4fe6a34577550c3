"""The roles that every cluster has, and who is bound to them."""

from __future__ import annotations

from sandbox.access.authorizer import AUTHENTICATED, MASTERS, RBAC, UNAUTHENTICATED
from sandbox.api.api import Api, Writer
from sandbox.json import JSON
from sandbox.kinds import RESOURCES

SERVER = Writer("system:apiserver", "kube-apiserver")

READ = ["get", "list", "watch"]
WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_HEALTH_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_API_PATHS = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi"]
_API_PATHS += ["/openapi/*", "/readyz", "/version", "/version/"]
_HIDDEN_FROM_VIEWERS = ("secrets",)
_SELF_REVIEWS = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]


def found_access(api: Api) -> None:
    """Create the cluster's own roles and bindings."""
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
    edit = _over([*READ, *WRITE])
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
        "view": _over(READ, _HIDDEN_FROM_VIEWERS),
        "edit": edit,
        "admin": [*edit, _rule(RBAC, ["rolebindings", "roles"], [*READ, *WRITE])],
    }


def _over(verbs: list[str], hidden: tuple[str, ...] = ()) -> list[JSON]:
    """Return rules over the kinds of applications: those of namespaces, but for access."""
    found: dict[str, list[str]] = {}
    for each in RESOURCES:
        if each.namespaced and each.group != RBAC and each.plural not in hidden:
            parts = (f"{each.plural}/{name}" for name in each.subresources)
            found.setdefault(each.group, []).extend((each.plural, *parts))
    return [_rule(group, sorted(names), verbs) for group, names in found.items()]


def _rule(group: str, resources: list[str], verbs: list[str]) -> JSON:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _create(api: Api, plural: str, name: str, content: JSON) -> None:
    resource = f"{plural}.{RBAC}"
    metadata = {
        "name": name,
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
    }
    api.create(resource, "", {"metadata": metadata, **content}, SERVER)
