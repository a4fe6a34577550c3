"""What shows that the DaemonSet controller does not act."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set.objects import DaemonSet
from gate.core.kinds.daemon_set.placement import own_pods
from gate.core.kinds.lasting import UNOBSERVED
from gate.core.rollout.workload_kind import View

MISCOUNTED: Final = "the controller has not counted the ready pods"


def sign_of_idleness(view: View[ControllerRevision], live: DaemonSet) -> str:
    """Return what shows that the controller does not act, "" if nothing does.

    Of several pods on a node it counts one: the number lies between the nodes on which all pods are
    ready, and those on which any is. Nodes that run a pod and are not to, are not counted.
    """
    if live.observed_generation < live.generation:
        return UNOBSERVED
    if live.misscheduled:
        return ""
    some, all_ = set(), {pod.node for pod in own_pods(view, live) if pod.node}
    for pod in own_pods(view, live):
        if pod.ready:
            some.add(pod.node)
        else:
            all_.discard(pod.node)
    gone = _find_gone(view, some)
    is_plausible = len(all_ - gone) <= live.ready <= len(some - gone)
    return "" if is_plausible or not view.pods else MISCOUNTED


def _find_gone(view: View[ControllerRevision], names: set[str]) -> set[str]:
    return {name for name in names if view.nodes.are_known and name not in view.nodes.present}


def controller_counters(live: DaemonSet) -> tuple[int, ...]:
    """Return what the controller counts: a change shows that it acts."""
    behind = live.generation - live.observed_generation
    wanted = (live.replicas, live.current, live.misscheduled)
    return (behind, *wanted, live.updated, live.ready, live.available)
