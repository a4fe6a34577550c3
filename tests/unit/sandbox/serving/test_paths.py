"""What a path asks for."""

from __future__ import annotations

import pytest

from sandbox.access.authorizer import Target
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


@pytest.mark.parametrize(
    ("value", "verb"), [("true", "watch"), ("1", "watch"), ("false", "list"), ("0", "list")]
)
def test_a_watch_is_a_list_that_asks_for_it(value: str, verb: str) -> None:
    """`watch=` turns a list into a watch unless it says no."""
    assert asked("GET", DEPLOYMENTS, watch=value)[0] == verb


def test_names_as_rbac_and_the_store_have_them() -> None:
    """A target knows its resource with its group, and with its subresource."""
    target = target_of(Request("GET", f"{DEPLOYMENTS}/web/scale"))
    assert (target.key, target.full_resource) == ("deployments.apps", "deployments/scale")
    assert Target("get", "/api/v1/pods", "", "v1", "", "pods").key == "pods"
