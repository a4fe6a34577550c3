"""Whether a path leads to a kind, and whether the method is one that it takes."""

from __future__ import annotations

from sandbox.failure import ApiError, not_served
from sandbox.kinds import Resource
from sandbox.serving.discovery import list_served_kinds, subresource_verbs
from sandbox.serving.paths import Target


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
