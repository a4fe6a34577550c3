"""A pod with its workers in virtual time: what was asked of the API server, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sandbox.json import JSON, copy_json
from sandbox.kubelet import behaviour, logs
from sandbox.kubelet.container import Pace
from sandbox.kubelet.requests import Bind, Remove, ReportStatus, Request, WriteEvent
from sandbox.kubelet.workers import PodWorkers
from sandbox.times import Timers

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


def pod(
    name: str = "web-1",
    *,
    asked: str = "",
    log: str = "",
    init: Sequence[JSON] = (),
    beside: Sequence[JSON] = (),
    **spec: Any,
) -> JSON:
    """Return a pod of one container `web`, whose ReplicaSet has the uid `set`."""
    annotations = {behaviour.ANNOTATION: asked, logs.ANNOTATION: log}
    return {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "annotations": {key: value for key, value in annotations.items() if value},
            "ownerReferences": [{"uid": "set"}],
        },
        "spec": {
            "containers": [{"name": "web", "image": "shop/web:1"}, *beside],
            **({"initContainers": [*init]} if init else {}),
            **spec,
        },
    }


def asking(item: JSON, asked: str) -> JSON:
    """Return the pod with another behaviour."""
    made: JSON = copy_json(item)
    made["metadata"]["annotations"] = {behaviour.ANNOTATION: asked}
    return made


def deleted(item: JSON, grace_seconds: int = 30) -> JSON:
    """Return the pod as it is once its deletion was asked for."""
    made: JSON = copy_json(item)
    made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    made["metadata"]["deletionGracePeriodSeconds"] = grace_seconds
    return made


@dataclass
class Stage:
    """Workers on one node unless more are named, and all that they have asked for."""

    pace: Pace = Pace.SHORT
    nodes: tuple[str, ...] = ("rig-0",)
    timers: Timers = field(default_factory=lambda: Timers(STARTED))
    requests: list[tuple[float, Request, str]] = field(default_factory=list)
    workers: PodWorkers = field(init=False)

    def __post_init__(self) -> None:
        """Set the workers up."""
        self.workers = PodWorkers(self.timers, self._send, self.nodes, self.pace)

    def _send(self, request: Request, node: str) -> None:
        self.requests.append((self.timers.now(), request, node))

    def run(self, *items: JSON, seconds: float = 0.0) -> Stage:
        """See pods, then let that time pass."""
        for item in items:
            self.workers.see(item)
        self.timers.run_due(self.timers.now() + seconds)
        return self

    def statuses(self) -> list[tuple[float, JSON]]:
        """Return the reported statuses with their times."""
        return [
            (at, request.body["status"])
            for at, request, _ in self.requests
            if isinstance(request, ReportStatus)
        ]

    def status(self) -> JSON:
        """Return the last status."""
        return self.statuses()[-1][1]

    def events(self) -> list[WriteEvent]:
        """Return what was said."""
        return [request for _, request, _ in self.requests if isinstance(request, WriteEvent)]

    def reasons(self) -> set[str]:
        """Return the reasons of what was said."""
        return {said.event["reason"] for said in self.events()}

    def binds(self) -> list[tuple[str, str]]:
        """Return the pods that were bound with their nodes, in order."""
        return [
            (request.pod.name, request.node)
            for _, request, _ in self.requests
            if isinstance(request, Bind)
        ]

    def removals(self) -> list[tuple[float, str]]:
        """Return the pods that were removed, with the time."""
        return [
            (at, request.pod.name)
            for at, request, _ in self.requests
            if isinstance(request, Remove)
        ]

    def trail(self, container: str = "web") -> list[tuple[float, str]]:
        """Return when a container came into which state, as `told` says it."""
        found: list[tuple[float, str]] = []
        for at, status in self.statuses():
            entries = [
                *status.get("containerStatuses", ()),
                *status.get("initContainerStatuses", ()),
            ]
            for entry in entries:
                if entry["name"] == container and (not found or found[-1][1] != entry_text(entry)):
                    found.append((round(at, 3), entry_text(entry)))
        return found

    def states(self, container: str = "web") -> list[str]:
        """Return the states of a container in their order."""
        return [state for _, state in self.trail(container)]


def entry_text(entry: JSON) -> str:
    """Return a container's state in a word or two: `ready`, `CrashLoopBackOff`, `Error 1`."""
    [(state, details)] = entry["state"].items()
    if state == "running":
        return "ready" if entry["ready"] else "running"
    if state == "terminated":
        return f"{details['reason']} {details['exitCode']}"
    return str(details["reason"])


def condition(status: JSON, type_: str) -> JSON:
    """Return a condition of a status."""
    return next(each for each in status["conditions"] if each["type"] == type_)
