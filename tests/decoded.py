"""Objects of one kind, decoded from their JSON as the gate decodes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.model.objects import Pod, Watched
from gate.wire import decode

Body = bytes | Mapping[str, Any]
Value = TypeVar("Value", bound=Watched)


def decode_deployment(body: Body) -> Deployment:
    """Decode an apps/v1 Deployment."""
    return _decode(Deployment, body)


def decode_replica_set(body: Body) -> ReplicaSet:
    """Decode an apps/v1 ReplicaSet."""
    return _decode(ReplicaSet, body)


def decode_pod(body: Body) -> Pod:
    """Decode a v1 Pod."""
    return _decode(Pod, body)


def _decode(kind: type[Value], body: Body) -> Value:
    value = decode.decode_watched(body)
    assert isinstance(value, kind)
    return value
