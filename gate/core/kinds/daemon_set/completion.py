"""When a DaemonSet's rollout is done: on each node that is ready, or strictly on all of them."""

from __future__ import annotations

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set import left_behind
from gate.core.kinds.daemon_set.objects import DaemonSet
from gate.core.kinds.daemon_set.placement import Placement, is_new, list_dead_nodes, own_pods
from gate.core.model.objects import CleanText
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.policy import OnDelete, Policy, amount
from gate.core.rollout.workload_kind import Remark, View

UNREADABLE = "nodes may not be read, so that each one has to follow"


def completion(view: View[ControllerRevision], live: DaemonSet, policy: Policy) -> AnyReason | None:
    """Return why nothing is left to wait for, None if something is."""
    if not left_behind.are_replaced(view, live):
        return None
    waits = policy.requirement.on_delete is OnDelete.WAIT
    if live.on_delete and live.updated < live.replicas and not waits:
        return Reason.NO_ROLLOUT if _is_available_everywhere(view, live, policy) else None
    if not _has_completed(view, live, policy):
        return None
    return Reason.COMPLETE if live.replicas else Reason.VACUOUS


def _has_completed(view: View[ControllerRevision], live: DaemonSet, policy: Policy) -> bool:
    """Tell whether every node that has to has an available pod of the new revision.

    The caller has checked that the controller observed our generation: with it, the controller
    writes counters by the revision of that template (`updateDaemonSetStatus`).
    """
    if policy.requirement.wait_for_termination and _terminates(view, live):
        return False
    if not live.replicas:
        return not any(True for _ in own_pods(view, live))
    needed = _count_needed_nodes(live, policy)
    if needed < live.replicas:
        placement = Placement.of(view, live)
        behind = max(0, len(placement.behind) - live.misscheduled)
        left = placement.count_wanted(live) - behind
        return min(left, placement.count_available(live)) >= needed
    follows_everywhere = _follow_all(view, live)
    if follows_everywhere or policy.requirement.require_all_nodes:
        return follows_everywhere
    return _follow_all_ready(view, live, Placement.of(view, live))


def is_rolled_out(view: View[ControllerRevision], live: DaemonSet) -> bool:
    """Tell whether no pod is left to replace or to add on a node that could run it."""
    return _follow_all(view, live) or _follow_all_ready(view, live, Placement.of(view, live))


def _is_available_everywhere(
    view: View[ControllerRevision], live: DaemonSet, policy: Policy
) -> bool:
    """Tell whether every node that has to has an available pod, of whatever revision."""
    if policy.requirement.require_all_nodes:
        return live.available == live.replicas
    placement = Placement.of(view, live)
    return placement.count_available_of_any(live) >= placement.count_wanted(live)


def _count_needed_nodes(live: DaemonSet, policy: Policy) -> int:
    """Return how many nodes have to follow: all, unless less was asked for."""
    if policy.requirement.require_min_available:
        return max(1, live.replicas - (0 if live.surges else live.step))
    wanted = amount(policy.requirement.require, live.replicas, live.replicas)
    return min(live.replicas, max(1, wanted))


def _terminates(view: View[ControllerRevision], live: DaemonSet) -> bool:
    """Tell whether a pod terminates since the attempt; nobody says so of one of a dead node."""
    dead = list_dead_nodes(view, live)
    alive = (pod for pod in own_pods(view, live) if pod.node not in dead)
    return any(map(view.starts_to_go, alive))


def _follow_all(view: View[ControllerRevision], live: DaemonSet) -> bool:
    """Tell whether each node has an available pod of the new revision, which is there to stay.

    The status counts one that terminates while it is still ready, as where its revision came back,
    and a controller that has stopped leaves its counters behind.
    """
    if not live.updated == live.available == live.replicas:
        return False
    new = [pod for pod in own_pods(view, live) if is_new(view, pod)]
    staying = {pod.node for pod in new if pod.ready and not pod.deleting}
    return all(pod.node in staying for pod in new)


def _follow_all_ready(
    view: View[ControllerRevision], live: DaemonSet, placement: Placement
) -> bool:
    """Tell whether all nodes that are ready follow, and only others are left; at least one is.

    Pods tell nodes apart, but only the status knows which of them have been ready for
    `minReadySeconds`, and whether each node has a pod: both have to agree. Which nodes run a pod
    and are not to, it does not say: as many as that may be among those that follow.
    """
    if not view.nodes.are_known or placement.behind or not placement.followed:
        return False
    there = len(placement.followed) + placement.dead_present
    if live.current != live.replicas or there != live.replicas + live.misscheduled:
        return False
    least = live.replicas - placement.dead_present
    alive = max(least, len(placement.followed) - live.misscheduled)
    is_updated = live.updated >= alive + placement.dead_updated
    return is_updated and live.available >= alive + placement.dead_ready


def describe_counts(view: View[ControllerRevision], live: DaemonSet, which: str) -> str:
    """Describe the progress in one line; nodes that do not count, or may not, are named.

    `which` is as in `call_others`.
    """
    if not live.replicas:
        return live.when_empty
    placement = Placement.of(view, live)
    if live.on_delete and live.updated < live.replicas:
        left = live.replicas - live.updated
        runs = "1 node runs" if left == 1 else f"{left} nodes run"
        said = f"{runs} another revision until somebody deletes its pods: the strategy is OnDelete"
        available = placement.count_available_of_any(live)
        lack = f"; {available} of {live.replicas} nodes have an available pod"
        return said + (lack if available < placement.count_wanted(live) else "")
    pod = f"{which} pod".strip()
    available = placement.count_seen(live)
    nodes = "node has" if live.replicas == 1 else "nodes have"
    parts = [f"{available} of {live.replicas} {nodes} an available {pod}"]
    parts += [f"not on {placement.name_dead(view)}"] if placement.dead else []
    late = [name for name in placement.behind if not view.nodes.was_ready_at_start(name)]
    parts += [f"{', '.join(late)} not Ready at the start"] if late else []
    if not view.nodes.are_known and available < live.replicas:
        parts.append(UNREADABLE)
    return ", ".join(parts)


def remarks(view: View[ControllerRevision], live: DaemonSet) -> tuple[Remark, ...]:
    """Name the nodes of whose pods the verdict says nothing: no kubelet answers for them."""
    dead = list_dead_nodes(view, live)
    if not dead:
        return ()
    nodes = "1 node is" if len(dead) == 1 else f"{len(dead)} nodes are"
    text = f"{nodes} not Ready, or gone, and the verdict says nothing about what runs there"
    return (Remark(CleanText(text), tuple(f"node/{name}" for name in dead)),)


def describe_lag(view: View[ControllerRevision], live: DaemonSet) -> str:
    """Say that only the DaemonSet's own counters are not there yet, "" otherwise."""
    if live.min_ready_seconds or not live.replicas:
        return ""
    placement = Placement.of(view, live)
    follow = len(placement.followed) >= live.replicas and not placement.behind
    if follow and not is_rolled_out(view, live):
        return ", not yet in the DaemonSet's status"
    return ""
