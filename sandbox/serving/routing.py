"""Where a URL path leads (apiserver `RequestInfo`): a verb on a resource, or a fixed path.

And whether there is such a resource, and the method is one that it takes.
"""

from __future__ import annotations

from sandbox.access.authorizer import Target
from sandbox.failure import ApiError, not_served
from sandbox.kinds import Resource
from sandbox.serving.discovery import list_served_kinds, subresource_verbs
from sandbox.serving.request import Request

_OF_NAMESPACES = ("status", "finalize")
_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_FALSE = ("false", "0")


def target_of(request: Request) -> Target:
    """Return what a request asks for; what is no resource keeps its method as its verb."""
    parts = request.path.strip("/").split("/")
    root = _root(parts)
    if root is None or request.path.startswith("//"):
        return Target(request.method.lower(), request.path)
    group, version, rest = root
    namespace, resource, name, subresource = _place(rest)
    return Target(
        _verb(request, name), request.path, group, version, namespace, resource, name, subresource
    )


def is_true(text: str) -> bool:
    """Whether a query parameter of the API is on: anything but `false` and `0`, empty is off."""
    return bool(text) and text.lower() not in _FALSE


def _root(parts: list[str]) -> tuple[str, str, list[str]] | None:
    match parts:
        case ["api", version, _, *_]:
            return "", version, parts[2:]
        case ["apis", group, version, _, *_]:
            return group, version, parts[3:]
        case _:
            return None


def _place(rest: list[str]) -> tuple[str, str, str, str]:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:  # noqa: PLR2004 - /namespaces/N/what
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    return namespace, resource, name, "/".join([subresource, *rest[3:]]).strip("/")


def _verb(request: Request, name: str) -> str:
    verb = _VERBS.get(request.method, request.method.lower())
    if not name and verb == "get":
        return "watch" if is_true(request.read_parameter("watch")) else "list"
    return "deletecollection" if verb == "delete" and not name else verb


def resolve_kind(target: Target, method: str) -> Resource:
    """Return the kind that a path of a known group names; 404, 405 and 501."""
    resource = _kind(target)
    _check_place(target, resource)
    if method == "HEAD" or target.verb not in _verbs(target, resource):
        raise no_such_method()
    return resource


def no_such_resource() -> ApiError:
    """404 for a version, a resource or a subresource that a known group does not have."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def no_such_method() -> ApiError:
    """405."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message)


def _kind(target: Target) -> Resource:
    for each in list_served_kinds(target.group, target.version):
        if each.plural == target.resource:
            return each
    raise no_such_resource()


def _check_place(target: Target, resource: Resource) -> None:
    if target.subresource and target.subresource not in resource.subresources:
        raise not_served(f"{target.resource}/{target.subresource}")
    if target.verb == "deletecollection":
        raise not_served("the deletion of a collection: delete its objects one by one")
    is_namespace = resource.key == "namespaces"
    if target.namespace and not resource.namespaced and not is_namespace:
        raise no_such_resource()
    if resource.namespaced and target.name and not target.namespace:
        raise no_such_resource()


def _verbs(target: Target, resource: Resource) -> set[str]:
    if target.subresource:
        return set(subresource_verbs(target.subresource))
    known = set(resource.verbs)
    if target.name:
        return known & {"get", "update", "patch", "delete"}
    if resource.namespaced and not target.namespace:
        return known & {"list", "watch"}
    return known & {"list", "watch", "create"}
