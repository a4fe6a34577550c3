"""What a path asks for."""

from __future__ import annotations

import pytest

from sandbox.serving.request import Request
from sandbox.serving.routing import target_of

DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"


def asked(method: str, path: str, **query: str) -> tuple[str, ...]:
    """Return verb, group, version, namespace, resource, name and subresource."""
    found = target_of(Request(method, path, tuple(query.items())))
    place = (found.group, found.version, found.namespace)
    return (found.verb, *place, found.resource, found.name, found.subresource)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", DEPLOYMENTS, ("list", "apps", "v1", "shop", "deployments", "", "")),
        ("POST", DEPLOYMENTS, ("create", "apps", "v1", "shop", "deployments", "", "")),
        (
            "DELETE",
            DEPLOYMENTS,
            ("deletecollection", "apps", "v1", "shop", "deployments", "", ""),
        ),
        ("GET", f"{DEPLOYMENTS}/web", ("get", "apps", "v1", "shop", "deployments", "web", "")),
        ("HEAD", f"{DEPLOYMENTS}/web", ("get", "apps", "v1", "shop", "deployments", "web", "")),
        ("PUT", f"{DEPLOYMENTS}/web", ("update", "apps", "v1", "shop", "deployments", "web", "")),
        (
            "PATCH",
            f"{DEPLOYMENTS}/web/scale",
            ("patch", "apps", "v1", "shop", "deployments", "web", "scale"),
        ),
        ("GET", "/api/v1/pods", ("list", "", "v1", "", "pods", "", "")),
        ("GET", "/api/v1/namespaces", ("list", "", "v1", "", "namespaces", "", "")),
        ("GET", "/api/v1/namespaces/shop", ("get", "", "v1", "shop", "namespaces", "shop", "")),
        (
            "PUT",
            "/api/v1/namespaces/shop/finalize",
            ("update", "", "v1", "shop", "namespaces", "shop", "finalize"),
        ),
        ("GET", "/version", ("get", "", "", "", "", "", "")),
        ("POST", "/apis/apps/v1", ("post", "", "", "", "", "", "")),
        ("GET", "//apis/apps/v1/deployments", ("get", "", "", "", "", "", "")),
    ],
)
def test_method_and_path_make_a_verb_on_a_resource(
    method: str, path: str, expected: tuple[str, ...]
) -> None:
    """Paths are read as the API server's RequestInfo reads them."""
    assert asked(method, path) == expected
