"""Pods and Events, which explain every workload."""

from __future__ import annotations

from typing import Final

from gate.core.rollout.observations import Kind
from gate.kube.kinds.kind import Right, WatchedKind
from gate.kube.resource import Resource

PODS: Final = Resource("", "v1", "Pod", "pods")
EVENTS: Final = Resource("", "v1", "Event", "events")

POD: Final = WatchedKind(Kind.POD, PODS)
EVENT: Final = WatchedKind(Kind.EVENT, EVENTS)

LOGS: Final = Right(PODS, ("get",), "log")
"""What it takes to show the last words of a container."""
