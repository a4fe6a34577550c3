"""One pod on the node: its containers in their order, its phase and its conditions.

A pure fold over the clock that `advance` is given; it sends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from sandbox.json import JSON
from sandbox.kubelet.behaviour import START_KINDS, Behaviour, Clause, Kind
from sandbox.kubelet.container import (
    Conditions,
    Container,
    Note,
    Pace,
    Part,
    Running,
    Why,
    not_initialized,
    not_ready,
)
from sandbox.kubelet.scripts import script

NODE_IP: Final = "127.0.0.1"

_EVICTED: Final = (
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 42Mi."
)
_NO_NODE: Final = "0/1 nodes are available: 1 Insufficient cpu."
_NO_VOLUME: Final = 'MountVolume.SetUp failed for volume "config" : configmap "config" not found'
_ENDED: Final[dict[str, Why]] = {"Succeeded": ("PodCompleted", ""), "Failed": ("PodFailed", "")}
_CONFIGURATION: Final = {
    "secret": ("secretKeyRef", "secretRef"),
    "configmap": ("configMapKeyRef", "configMapRef"),
}
"""The fields by which `valueFrom` and `envFrom` name each (core/v1, EnvVarSource)."""


class Pod:
    """What happens to one pod object: `behave` says what, `start` begins, `advance` goes on."""

    __slots__ = (
        "_address",
        "_behaviour",
        "_conditions",
        "_evict_at",
        "_generation",
        "_init",
        "_is_evicted",
        "_main",
        "_not_started",
        "_scheduling",
        "_started_at",
        "due",
        "name",
        "namespace",
        "uid",
    )

    def __init__(self, pod: JSON, address: str, pace: Pace) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        self.name: str = metadata["name"]
        self.namespace: str = metadata["namespace"]
        self.uid: str = metadata["uid"]
        self.due = math.inf
        self._behaviour = Behaviour()
        self._address = address
        self._generation = metadata.get("generation", 0)
        self._init = self._containers(spec.get("initContainers", []), spec, pace, is_init=True)
        self._main = self._containers(spec["containers"], spec, pace, is_init=False)
        self._not_started = [*self._init, *self._main]
        self._conditions = Conditions()
        self._scheduling = Conditions()
        self._started_at = ""
        self._evict_at = math.inf
        self._is_evicted = False

    @property
    def started(self) -> bool:
        """Whether it has begun on the node."""
        return bool(self._started_at)

    @property
    def containers(self) -> list[Container]:
        """All containers, init containers first."""
        return [*self._init, *self._main]

    def _containers(
        self, specs: Iterable[JSON], pod_spec: JSON, pace: Pace, *, is_init: bool
    ) -> list[Container]:
        waits_for = "PodInitializing" if pod_spec.get("initContainers") else "ContainerCreating"
        made = []
        for spec in specs:
            policy = spec.get("restartPolicy") or pod_spec.get("restartPolicy", "Always")
            is_sidecar = is_init and spec.get("restartPolicy") == "Always"
            part = Part(
                name=spec["name"],
                image=spec["image"],
                pod=f"{self.name}_{self.namespace}({self.uid})",
                restarts=policy != "Never",
                serves=is_sidecar or (policy == "Always" and not is_init),
                pace=pace,
                configuration=_configuration(spec),
            )
            made.append(Container(part, waits_for))
        return made

    @property
    def termination_seconds(self) -> float:
        """How long it is asked to take to go."""
        slow = self._behaviour.of_pod(Kind.SLOW_TERMINATION)
        return (slow.seconds if slow else None) or 0.0

    def behave(self, behaviour: Behaviour, now: float) -> None:
        """Do from now on what is asked; restarts so far stay counted.

        A container that backs off does it from its next try on; so does one that runs, where what
        is asked concerns its start.
        """
        self._behaviour = behaviour
        for group, is_init in ((self._init, True), (self._main, False)):
            for number, each in enumerate(group):
                clause = behaviour.of_container(
                    each.part.name, is_first=number == 0, is_init=is_init
                )
                self._turn(each, clause, now)
        evicted = behaviour.of_pod(Kind.EVICTED)
        self.evict_at(now + (evicted.seconds or 0) if evicted else math.inf)

    def evict_at(self, at: float) -> None:
        """End all containers at that time, for good."""
        self._evict_at = at
        self._set_due()

    def _turn(self, container: Container, clause: Clause | None, now: float) -> None:
        steps = script(container.part, clause)
        concerns_start = clause is not None and clause.kind in START_KINDS
        runs = isinstance(container.state, Running)
        if container.is_held_back(now) or (runs and concerns_start):
            container.follow_later(steps)
            return
        container.follow(steps)
        if container not in self._not_started and not container.ended:
            container.start(now)

    def unschedulable(self, wall: str) -> tuple[JSON, Note]:
        """Return the status and the event of a pod for which there is no node."""
        self._scheduling.set(wall, "PodScheduled", why=("Unschedulable", _NO_NODE))
        status = {"phase": "Pending", "conditions": self._scheduling.render()}
        return status, Note("FailedScheduling", _NO_NODE)

    def start(self, now: float, wall: str) -> list[Note]:
        """Begin on the node; return what is to be said at once."""
        self._started_at = wall
        self._start_next(now)
        self._set_due()
        lacks_volume = self._behaviour.of_pod(Kind.MOUNT_ERROR)
        return [Note("FailedMount", _NO_VOLUME)] if lacks_volume else []

    def advance(self, now: float, wall: str) -> list[Note]:
        """Let each container take its due step; return what is to be said."""
        said = [note for each in self.containers for note in each.advance(now, wall)]
        self._start_next(now)
        if self._evict_at <= now:
            said.append(self._evict(wall))
        self._set_due()
        return said

    def _start_next(self, now: float) -> None:
        """Start what may start: init containers one after the other, then all others at once."""
        while self._not_started and self._may_start(self._not_started[0]):
            self._not_started.pop(0).start(now)

    def _may_start(self, container: Container) -> bool:
        if self._behaviour.of_pod(Kind.MOUNT_ERROR):
            return False
        before = self._init
        if container in self._init:
            before = self._init[: self._init.index(container)]
        return all(_let_others_start(each) for each in before)

    def _evict(self, wall: str) -> Note:
        self._evict_at = math.inf
        self._is_evicted = True
        self.kill(wall)
        return Note("Evicted", _EVICTED)

    def kill(self, wall: str) -> None:
        """End for good every container that has not ended yet."""
        self._not_started = []
        for each in self.containers:
            if not each.ended:
                each.kill(wall)

    def _set_due(self) -> None:
        self.due = min(self._evict_at, *(each.due for each in self.containers))

    def status(self, wall: str) -> JSON:
        """Return the `status` as it is now, but for what is the scheduler's: `PodScheduled`.

        Conditions keep their time while unchanged.
        """
        phase = self._phase()
        self._set_conditions(phase, wall)
        status: JSON = {
            "phase": phase,
            "observedGeneration": self._generation,
            "conditions": self._conditions.render(),
            "hostIP": NODE_IP,
            "podIP": self._address,
            "podIPs": [{"ip": self._address}],
            "startTime": self._started_at,
            "containerStatuses": [each.status() for each in self._main],
        }
        if self._init:
            status["initContainerStatuses"] = [
                each.status() | {"ready": each.ready or each.completed} for each in self._init
            ]
        if self._is_evicted:
            status |= {"reason": "Evicted", "message": _EVICTED}
        return status

    def _phase(self) -> str:
        if any(each.ended and not each.completed for each in self._init):
            return "Failed"
        if all(each.ended for each in self._main):
            return "Succeeded" if all(each.completed for each in self._main) else "Failed"
        if any(each in self._not_started for each in self._main):
            return "Pending"
        # A container that never ran keeps its pod pending: its image or its configuration fails.
        return "Running" if all(each.has_run for each in self._main) else "Pending"

    def _set_conditions(self, phase: str, wall: str) -> None:
        undone = [each.part.name for each in self._init if not _let_others_start(each)]
        # Once an ordinary container was started, a sidecar that restarts undoes nothing.
        if undone and any(each in self._not_started for each in self._main):
            self._conditions.set(wall, "Initialized", why=not_initialized(undone))
        else:
            self._conditions.set(wall, "Initialized")
        unready = [each.part.name for each in self._main if not each.ready]
        why = (_ENDED.get(phase) or not_ready(unready)) if unready else None
        self._conditions.set(wall, "ContainersReady", "Ready", why=why)


def _let_others_start(init_container: Container) -> bool:
    """Whether the next container may start: this one is done, or is a sidecar that runs."""
    if init_container.part.serves:
        return isinstance(init_container.state, Running)
    return init_container.completed


def _configuration(container: JSON) -> str:
    """Return the Secret, or else the ConfigMap, that a container does not start without.

    One that its environment names and that is not optional; "secret" where there is none.
    """
    sources = [one.get("valueFrom") or {} for one in container.get("env") or ()]
    sources += container.get("envFrom") or ()
    for what, fields in _CONFIGURATION.items():
        for source in sources:
            for found in filter(None, map(source.get, fields)):
                if found.get("name") and not found.get("optional"):
                    return f'{what} "{found["name"]}"'
    return "secret"
