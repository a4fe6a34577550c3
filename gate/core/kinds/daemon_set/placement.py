"""Which nodes run which revision of a DaemonSet, by its pods: what its status only counts."""

from __future__ import annotations

from collections.abc import Iterable

from gate.core.frozen import dataclass
from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set.objects import DaemonSet
from gate.core.model.objects import Pod
from gate.core.rollout.workload_kind import View


@dataclass(frozen=True, slots=True)
class Placement:
    """The nodes on which a DaemonSet has pods, by name.

    `followed` are ready nodes on which each pod is a ready one of the new revision, `behind` the
    other ready ones, `behind_ready` of which have a ready pod. `dead` are those that are not ready,
    or gone; of `dead_present`, the ones that are there, the status counts `dead_updated` as updated
    and perhaps `dead_ready` as available. Where nodes could not be read, each one is held to be
    ready.
    """

    followed: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    dead_present: int = 0
    dead_updated: int = 0
    dead_ready: int = 0
    behind_ready: int = 0

    @classmethod
    def of(cls, view: View[ControllerRevision], live: DaemonSet) -> Placement:
        """Sort the nodes of a DaemonSet's pods; a pod that is for no node yet says nothing."""
        places: dict[str, list[Pod]] = {}
        for pod in own_pods(view, live):
            if pod.node:
                places.setdefault(pod.node, []).append(pod)
        followed, behind, dead = [], [], list_dead_nodes(view, live)
        are_dead = frozenset(dead)
        for name, pods in sorted(places.items()):
            if name in are_dead:
                continue
            if all(pod.ready and not pod.deleting and is_new(view, pod) for pod in pods):
                followed.append(name)
            else:
                behind.append(name)
        present = [places[name] for name in dead if name in view.nodes.present]
        return cls(
            tuple(followed),
            tuple(behind),
            dead,
            len(present),
            sum(all(is_new(view, pod) for pod in pods) for pods in present),
            sum(any(pod.ready for pod in pods) for pods in present),
            sum(any(pod.ready for pod in places[name]) for name in behind),
        )

    def count_wanted(self, live: DaemonSet) -> int:
        """Return how many nodes that are not dead are to run a pod, at least.

        A dead node may be one that is not to run a pod any more, which the status does not count at
        all; nor does it count one that is gone.
        """
        return live.replicas - max(0, self.dead_present - live.misscheduled)

    def count_available(self, live: DaemonSet) -> int:
        """Return on how many nodes that are not dead an available pod of the new revision is known.

        Each of the two counters leaves out some nodes: at least what both have is both.
        """
        updated, available = live.updated - self.dead_updated, live.available - self.dead_ready
        desired = self.count_wanted(live)
        return max(0, min(desired, updated + available - desired))

    def count_available_of_any(self, live: DaemonSet) -> int:
        """Return on how many nodes that are not dead a pod is available, of whatever revision.

        The status may still count a pod that has stopped being ready: the pods know better.
        """
        ready = len(self.followed) + self.behind_ready
        return min(ready, max(0, live.available - self.dead_ready))

    def count_seen(self, live: DaemonSet) -> int:
        """Return as much as `count_available` does, or more where pods show it a moment early."""
        others = self.dead_ready + self.behind_ready
        return max(self.count_available(live), min(len(self.followed), live.available - others))

    def name_dead(self, view: View[ControllerRevision]) -> str:
        """Name the nodes that are not ready, or gone."""
        nodes = view.nodes.present
        return ", ".join(
            f"{name} ({'not Ready' if name in nodes else 'gone'})" for name in self.dead
        )


def own_pods(view: View[ControllerRevision], live: DaemonSet) -> Iterable[Pod]:
    """Iterate the pods that a DaemonSet owns, also those on their way out."""
    return (track.pod for track in view.pods.values() if track.pod.owner_uid == live.uid)


def list_dead_nodes(view: View[ControllerRevision], live: DaemonSet) -> tuple[str, ...]:
    """Return the nodes of its pods that are not ready, or gone, by name; none if nodes are unknown.

    It is what most questions need of a placement, and costs a fraction of it.
    """
    if not view.nodes.are_known:
        return ()
    nodes = {pod.node for pod in own_pods(view, live) if pod.node}
    return tuple(sorted(name for name in nodes if not view.nodes.is_ready(name)))


def is_new(view: View[ControllerRevision], pod: Pod) -> bool:
    """Tell whether a pod is of the new revision."""
    return key_of(pod) == view.current_key != ""


def key_of(pod: Pod) -> str:
    """Return what the pods of a revision have in common.

    The label has the bare hash of the template, which another DaemonSet's may have as well.
    """
    return f"{pod.owner_uid}/{pod.revision_label}" if pod.revision_label else ""
