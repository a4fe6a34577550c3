"""What keeps a DaemonSet from rolling out: pods that are denied, left or held, dead nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set import left_behind
from gate.core.kinds.daemon_set.objects import DaemonSet
from gate.core.kinds.daemon_set.placement import (
    Placement,
    is_new,
    list_dead_nodes,
    own_pods,
)
from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.model.objects import CleanText
from gate.core.rollout.controller_faults import (
    Fault,
    denial_of_pods,
    find_denial,
    find_ending_pods,
)
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import View


def faults(view: View[ControllerRevision], live: DaemonSet, limits: FailFast) -> Iterator[Fault]:
    """Yield what keeps the controller from rolling out; denied pods decide first."""
    yield from _find_denial(view, live, limits)
    left = left_behind.find_blocking_pod(view, live, limits)
    left = left or left_behind.find_broken_pod(view, live, limits)
    if left is not None:
        yield left_behind.fault_of(left, view, live)
    yield from find_ending_pods(_list_awaited(view, live), partial(is_new, view))
    blocked = _describe_block(view, live)
    if blocked:
        dead = list_dead_nodes(view, live)
        subject = f"node/{dead[0]}" if len(dead) == 1 and dead[0] in view.nodes.present else ""
        yield Fault(DaemonSetReason.BLOCKED_BY_NODE, CleanText(blocked), subject=subject)


def _find_denial(
    view: View[ControllerRevision], live: DaemonSet, limits: FailFast
) -> Iterator[Fault]:
    """Yield that pods are denied: an Event says why, as a DaemonSet has no condition for it.

    Only while a node lacks its pod.
    """
    if live.current >= live.replicas:
        return
    denied = find_denial(view.events.list_denials(live.uid), _own(view, live))
    if denied is not None:
        yield denial_of_pods(denied.message, None, limits)


def _list_awaited(view: View[ControllerRevision], live: DaemonSet) -> Iterator[PodTrack]:
    """Yield its pods that are being deleted, but on dead nodes, which nobody waits for."""
    going = (track for track in view.pods.values() if track.pod.deleting)
    ending = [track for track in going if track.pod.owner_uid == live.uid]
    dead = list_dead_nodes(view, live) if ending else ()
    return (track for track in ending if track.pod.node not in dead)


def _own(view: View[ControllerRevision], live: DaemonSet) -> Iterator[PodTrack]:
    return (track for track in view.pods.values() if track.pod.owner_uid == live.uid)


def _describe_block(view: View[ControllerRevision], live: DaemonSet) -> str:
    """Say that dead nodes use up how many may be unavailable at a time, "" if they do not.

    The controller counts a node without an available pod, and replaces no pod that works while
    there are as many as that (`rollingUpdate`).
    """
    if live.on_delete or not view.current_key or not list_dead_nodes(view, live):
        return ""
    placement = Placement.of(view, live)
    waiting = {
        pod.node
        for pod in own_pods(view, live)
        if pod.node in placement.behind and pod.ready and not pod.deleting and not is_new(view, pod)
    }
    if placement.dead_present and placement.followed and not placement.behind:
        has = "has" if len(placement.dead) == 1 else "have"
        return f"{placement.name_dead(view)} {has} no available pod of it, and every other node has"
    if placement.dead_present >= live.replicas and not (placement.followed or placement.behind):
        return f"{placement.name_dead(view)}: no node that is to run it is Ready"
    if not waiting or placement.dead_present - placement.dead_ready < live.step:
        return ""
    limit = f"maxUnavailable ({live.max_unavailable})"
    if live.surges:
        limit = f"maxSurge ({live.max_surge})"
    use = "uses" if placement.dead_present == 1 else "use"
    nodes = "1 node still runs" if len(waiting) == 1 else f"{len(waiting)} nodes still run"
    return f"{placement.name_dead(view)} {use} up {limit}: {nodes} another revision"
