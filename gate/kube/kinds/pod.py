"""Pods and Events, which explain every workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.rollout.observations import Kind
from gate.core.rollout.policy import BlockedPods
from gate.kube.kinds.kind import Right, WatchedKind
from gate.kube.kinds.resource import Resource

PODS: Final = Resource("", "v1", "Pod", "pods")
EVENTS: Final = Resource("", "v1", "Event", "events")

POD: Final = WatchedKind(Kind.POD, PODS)
EVENT: Final = WatchedKind(Kind.EVENT, EVENTS)

LOGS: Final = Right(PODS, ("get",), "log")
"""What it takes to show the last words of a container."""

REMOVING: Final[Mapping[BlockedPods, tuple[Right, ...]]] = {
    BlockedPods.EVICT: (Right(PODS, ("create",), "eviction"),),
    BlockedPods.DELETE: (Right(PODS, ("delete",)),),
    BlockedPods.NEVER: (),
}
"""What it takes to remove a pod that is in the way of its controller."""
