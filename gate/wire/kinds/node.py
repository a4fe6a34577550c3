"""v1 Node: its JSON, and the core's value of it."""

from __future__ import annotations

from typing import Final

from gate.core.model import objects as core
from gate.core.rollout.observations import Kind
from gate.wire import build, shapes
from gate.wire.kinds.kind import RecordedFields, WatchedKind

_UNREAD: Final = frozenset(
    {
        "addresses",
        "allocatable",
        "capacity",
        "config",
        "daemonEndpoints",
        "features",
        "images",
        "nodeInfo",
        "runtimeHandlers",
        "volumesAttached",
        "volumesInUse",
    }
)
"""Fields of a NodeStatus that nobody reads, by far the most of an object."""


class NodeStatus(shapes.Shape):
    """NodeStatus."""

    conditions: list[shapes.Condition] | None = None


class Node(shapes.Shape, tag_field="kind", tag="Node"):
    """v1 Node, without its spec: who may run where is for controllers to say."""

    metadata: shapes.Meta
    status: NodeStatus | None = None


def build_node(found: Node) -> core.Node:
    """Build a v1 Node; a condition that is `Unknown` says that its kubelet no longer reports."""
    conditions = (found.status or NodeStatus()).conditions or ()
    return core.Node(
        name=build.line(found.metadata.name),
        uid=found.metadata.uid or "",
        resource_version=found.metadata.resource_version or "",
        ready=any(one.type == "Ready" and one.status == "True" for one in conditions),
    )


NODE: Final = WatchedKind(
    Kind.NODE, "v1", Node, core.Node, build_node, RecordedFields(left_out=_UNREAD)
)
