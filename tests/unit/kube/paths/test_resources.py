"""Paths come from a table; only an unknown kind costs a request, and one a group."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.objects import Ref
from gate.kube.answers.failures import BadAnswer, NotFound, Rejected
from gate.kube.kinds.deployment import DEPLOYMENTS
from gate.kube.kinds.pod import PODS
from gate.kube.paths.resources import NAMESPACES, Resources
from tests.unit.kube.scripted import ScriptedServer, as_json

WIDGETS = {
    "resources": [
        {"name": "widgets", "kind": "Widget", "namespaced": True},
        {"name": "widgets/status", "kind": "Widget", "namespaced": True},
        {"name": "shops", "kind": "Shop", "namespaced": False},
    ]
}


def test_paths_of_the_table(resources: Resources, server: ScriptedServer) -> None:
    """The usual kinds need no request."""
    assert resources.path(deployment_ref("shop", "web")) == (
        "/apis/apps/v1/namespaces/shop/deployments/web"
    )
    assert PODS.path("shop", "web-1", "log") == "/api/v1/namespaces/shop/pods/web-1/log"
    assert NAMESPACES.path(name="shop") == "/api/v1/namespaces/shop"
    assert server.seen == []


def test_an_unknown_kind_is_asked_for_once(resources: Resources, server: ScriptedServer) -> None:
    """One question gives all kinds of a group and version; subresources are no kinds."""
    server.on("GET", "/apis/example.com/v1", as_json(WIDGETS))
    path = resources.path(Ref("example.com/v1", "Widget", "shop", "w"))
    assert path == "/apis/example.com/v1/namespaces/shop/widgets/w"
    assert resources.path(Ref("example.com/v1", "Shop", "", "s")) == "/apis/example.com/v1/shops/s"
    assert len(server.seen) == 1


@pytest.mark.contract("B223")
@pytest.mark.parametrize("api_version", ["example.com/v1", "example.org/v1"])
def test_a_kind_that_the_server_has_not(
    resources: Resources, server: ScriptedServer, api_version: str
) -> None:
    """A missing kind and a missing group say the same clear thing."""
    server.on("GET", "/apis/example.com/v1", as_json(WIDGETS))
    with pytest.raises(NotFound, match=f"no kind Gadget in {api_version} on this server"):
        resources.of(api_version, "Gadget")


def test_a_list_of_resources_that_is_none(resources: Resources, server: ScriptedServer) -> None:
    """An answer that is no list of resources is said to be one that cannot be read."""
    server.on("GET", "/apis/example.com/v1", as_json({"resources": 3}))
    with pytest.raises(BadAnswer, match="cannot be read"):
        resources.of("example.com/v1", "Widget")


@pytest.mark.parametrize("name", ["..", ".", "a/b", "a%2fb", "a?x=1", "a b", "a#b"])
def test_a_name_cannot_leave_its_place(name: str) -> None:
    """A name that would change the path is refused before anything is sent."""
    with pytest.raises(Rejected, match="is no name of an object"):
        DEPLOYMENTS.path("shop", name)
    with pytest.raises(Rejected, match="is no name of an object"):
        DEPLOYMENTS.path(name, "web")
