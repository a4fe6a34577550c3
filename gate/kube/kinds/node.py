"""Nodes, on each of which a kind of workload may run a pod."""

from __future__ import annotations

from typing import Final

from gate.core.rollout.observations import Kind
from gate.kube.kinds.kind import WatchedKind
from gate.kube.kinds.resource import Resource

NODES: Final = Resource("", "v1", "Node", "nodes", namespaced=False)

NODE: Final = WatchedKind(Kind.NODE, NODES)
