"""Protobuf requests, made by hand as a typed client makes them."""

from __future__ import annotations

import pytest

from sandbox.access.authorizer import REVIEWS
from sandbox.kinds import RESOURCES
from sandbox.serving.protobuf.messages import (
    MAGIC,
    OPTIONS,
    WireError,
    _messages,
    from_protobuf,
    message_name,
)


def varint(number: int) -> bytes:
    """Return a varint, of negative numbers the two's complement."""
    number &= (1 << 64) - 1
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def part(number: int, value: int | str | bytes) -> bytes:
    """Return one field."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return an object as it goes over the wire."""
    meta = part(1, api_version) + part(2, kind)
    return MAGIC + part(1, meta) + part(2, raw)


def metadata(name: str) -> bytes:
    """Return an ObjectMeta with an empty creation time, as typed clients send it."""
    label = part(1, "app") + part(2, name)
    return part(1, name) + part(8, b"") + part(11, label)


def deployment() -> bytes:
    """Return a Deployment."""
    container = part(1, "web") + part(2, "shop/web:1")
    port = part(2, part(1, 0) + part(2, 8080))
    container += part(10, part(1, part(2, port)))
    limits = part(1, "cpu") + part(2, part(1, "500m"))
    container += part(8, part(1, limits))
    volume = part(1, "config") + part(2, part(19, part(1, part(1, "settings"))))
    pod = part(1, volume) + part(2, container)
    template = part(1, metadata("web")) + part(2, pod)
    selector = part(1, part(1, "app") + part(2, "web"))
    surge = part(1, 1) + part(3, "50%")
    strategy = part(1, "RollingUpdate") + part(2, part(2, surge))
    spec = part(1, 3) + part(2, selector) + part(3, template) + part(4, strategy)
    return envelope("apps/v1", "Deployment", part(1, metadata("web")) + part(2, spec))


def test_a_deployment_is_read() -> None:
    """Numbers become names, inline structs vanish, special types take their JSON form."""
    body = from_protobuf(deployment(), "apps/v1", "Deployment")
    assert (body["apiVersion"], body["kind"]) == ("apps/v1", "Deployment")
    assert body["metadata"] == {"name": "web", "creationTimestamp": None, "labels": {"app": "web"}}
    spec = body["spec"]
    assert spec["replicas"] == 3
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": "50%"}
    pod = spec["template"]["spec"]
    assert pod["volumes"] == [{"name": "config", "configMap": {"name": "settings"}}]
    [container] = pod["containers"]
    assert container["resources"] == {"limits": {"cpu": "500m"}}
    assert container["livenessProbe"] == {"httpGet": {"port": 8080}}


def test_every_kind_has_its_message() -> None:
    """What is served can be sent as protobuf."""
    for kind in (*RESOURCES, *REVIEWS):
        assert message_name(kind.api_version, kind.kind) in _messages()
    assert OPTIONS in _messages()


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        MAGIC + b"\x0a\x7f",
        MAGIC + b"\x0b",
        MAGIC + b"\x80" * 11,
        MAGIC + part(1, 5),
        envelope("v1", "Gadget", b""),
        envelope("v1", "Pod", part(1, 7)),
    ],
)
def test_what_is_no_message_is_refused(raw: bytes) -> None:
    """Cut, misfit and unknown messages are errors, never crashes."""
    with pytest.raises(WireError):
        from_protobuf(raw, "v1", "Pod")
