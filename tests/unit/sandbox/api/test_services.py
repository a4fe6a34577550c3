"""Addresses and node ports of Services: what others have cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.api.api import Api, ApiError, Key, Writer
from sandbox.json import JSON

ME = Writer("alice", "kubectl")
OTHER = Key("services", "default", "other")


def service(name: str, node_port: int = 0, **spec: Any) -> JSON:
    """Return a Service of one port."""
    port = {"port": 80, **({"nodePort": node_port} if node_port else {})}
    return {"metadata": {"name": name}, "spec": {"type": "NodePort", "ports": [port], **spec}}


def create(api: Api, body: JSON) -> JSON:
    """Create a Service."""
    return api.create("services", "default", body, ME)


def node_port(body: JSON) -> int:
    """Return the port of the nodes that leads to a Service."""
    found: int = body["spec"]["ports"][0]["nodePort"]
    return found


def test_no_two_services_get_the_same_node_port(api: Api) -> None:
    """On creation, and when one becomes a NodePort."""
    first, second = create(api, service("a")), create(api, service("b"))
    create(api, service("other", type="ClusterIP"))
    third = api.update(OTHER, service("other"), ME)
    assert [node_port(each) for each in (first, second, third)] == [30000, 30001, 30002]


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (30005, "provided port is already allocated"),
        (
            80,
            ("provided port is not in the valid range. The range of valid ports is 30000-32767"),
        ),
    ],
)
def test_a_node_port_that_cannot_be_had_is_refused(api: Api, number: int, why: str) -> None:
    """In the server's words, on creation and on an update."""
    create(api, service("a", 30005))
    create(api, service("other"))
    with pytest.raises(ApiError) as caught:
        create(api, service("b", number))
    assert caught.value.message == (
        f'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: {number}: {why}'
    )
    with pytest.raises(ApiError, match=f'Service "other" is invalid.*{why}'):
        api.update(OTHER, service("other", number), ME)


def test_a_service_keeps_its_own(api: Api) -> None:
    """What it has is not taken by somebody else."""
    made = create(api, service("other", 30005))
    changed = api.update(
        OTHER, {**made, "metadata": {**made["metadata"], "labels": {"a": "b"}}}, ME
    )
    assert changed["spec"] == made["spec"]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("10.96.0.2", "provided IP is already allocated"),
        ("192.0.2.1", "the provided network does not match the current range"),
    ],
)
def test_an_address_that_cannot_be_had_is_refused(api: Api, address: str, why: str) -> None:
    """422 of the list of addresses; no address at all is one's right."""
    create(api, service("a"))
    create(api, service("headless", type="ClusterIP", clusterIP="None"))
    with pytest.raises(ApiError) as caught:
        create(api, service("b", clusterIP=address))
    assert caught.value.message == (
        f'Service "b" is invalid: spec.clusterIPs: Invalid value: ["{address}"]:'
        f" failed to allocate IP {address}: {why}"
    )
