"""One pod on the node: its containers in their order, its phase and its conditions.

A pure fold over the clock that `advance` is given; it sends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tests.cluster.kubelet.api import JSON
from tests.cluster.kubelet.behaviour import Behaviour, Kind
from tests.cluster.kubelet.container import Container
from tests.cluster.kubelet.scripts import Note, Part, Running, script

NODE_IP = "127.0.0.1"

_EVICTED = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 42Mi."
_NO_NODE = "0/1 nodes are available: 1 Insufficient cpu."
_NO_VOLUME = 'MountVolume.SetUp failed for volume "config" : configmap "config" not found'


class Pod:
    """What happens to one pod object: `behave` says what, `start` begins, `advance` goes on."""

    def __init__(self, pod: JSON, address: str) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        self.name: str = metadata["name"]
        self.namespace: str = metadata["namespace"]
        self.uid: str = metadata["uid"]
        self.due = math.inf
        self._behaviour = Behaviour()
        self._address = address
        self._generation = metadata.get("generation", 0)
        self._init = self._containers(spec.get("initContainers", []), spec, is_init=True)
        self._main = self._containers(spec["containers"], spec, is_init=False)
        self._not_started = [*self._init, *self._main]
        self._conditions: dict[str, JSON] = {}
        self._started_at = ""
        self._evict_at = math.inf

    @property
    def started(self) -> bool:
        """Whether it has begun on the node."""
        return bool(self._started_at)

    @property
    def containers(self) -> list[Container]:
        """All containers, init containers first."""
        return [*self._init, *self._main]

    def _containers(
        self, specs: Iterable[JSON], pod_spec: JSON, *, is_init: bool
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
            )
            made.append(Container(part, waits_for))
        return made

    def behave(self, behaviour: Behaviour, now: float) -> None:
        """Do from now on what is asked; restarts so far stay counted."""
        self._behaviour = behaviour
        for group, is_init in ((self._init, True), (self._main, False)):
            for number, each in enumerate(group):
                clause = behaviour.of_container(
                    each.part.name, is_first=number == 0, is_init=is_init
                )
                each.follow(script(each.part, clause))
                if each not in self._not_started and not each.ended:
                    each.start(now)
        if evicted := behaviour.of_pod(Kind.EVICTED):
            self._evict_at = now + (evicted.seconds or 0)
        self._set_due()

    def unschedulable(self, wall: str) -> tuple[JSON, Note]:
        """Return the status and the event of a pod for which there is no node."""
        self._set_condition("PodScheduled", False, wall, "Unschedulable", _NO_NODE)
        status = {"phase": "Pending", "conditions": list(self._conditions.values())}
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
        self._not_started = []
        for each in self.containers:
            each.evict(wall)
        return Note("Evicted", _EVICTED)

    def _set_due(self) -> None:
        self.due = min(self._evict_at, *(each.due for each in self.containers))

    def status(self, wall: str) -> JSON:
        """Return the whole `status` as it is now; conditions keep their time while unchanged."""
        phase = self._phase()
        self._set_conditions(phase, wall)
        status: JSON = {
            "phase": phase,
            "observedGeneration": self._generation,
            "conditions": list(self._conditions.values()),
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
        if phase == "Failed" and self._behaviour.of_pod(Kind.EVICTED):
            status |= {"reason": "Evicted", "message": _EVICTED}
        return status

    def _phase(self) -> str:
        if all(each.ended for each in self._main):
            return "Succeeded" if all(each.completed for each in self._main) else "Failed"
        if any(each in self._not_started for each in self._main):
            return "Pending"
        # A container that never ran keeps its pod pending: its image or its configuration fails.
        return "Running" if all(each.has_run for each in self._main) else "Pending"

    def _set_conditions(self, phase: str, wall: str) -> None:
        unready = [each.part.name for each in self._main if not each.ready]
        initialized = not any(each in self._not_started for each in self._main)
        self._set_condition("PodScheduled", True, wall)
        self._set_condition("Initialized", initialized, wall)
        why, message = "ContainersNotReady", f"containers with unready status: {_listed(unready)}"
        if phase in {"Succeeded", "Failed"}:
            why, message = f"Pod{'Completed' if phase == 'Succeeded' else 'Failed'}", ""
        for name in ("ContainersReady", "Ready"):
            if unready:
                self._set_condition(name, False, wall, why, message)
            else:
                self._set_condition(name, True, wall)

    def _set_condition(
        self, name: str, holds: bool, wall: str, reason: str = "", message: str = ""
    ) -> None:
        status = "True" if holds else "False"
        before = self._conditions.get(name, {})
        since = before["lastTransitionTime"] if before.get("status") == status else wall
        condition = {"type": name, "status": status, "lastTransitionTime": since}
        if reason:
            condition["reason"] = reason
        if message:
            condition["message"] = message
        self._conditions[name] = condition


def _let_others_start(init_container: Container) -> bool:
    """Whether the next container may start: this one is done, or is a sidecar that runs."""
    if init_container.part.serves:
        return isinstance(init_container.state, Running)
    return init_container.completed


def _listed(names: list[str]) -> str:
    """Return names as Go prints a list of strings."""
    return f"[{' '.join(names)}]"
