"""The pods of a version that is taken back, and that a DaemonSet's controller leaves by `OnDelete`.

A way back restores the update strategy with the template: the controller then replaces no pod, so
that those of the failed version would stay on their nodes.
"""

from __future__ import annotations

from collections.abc import Collection

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.daemon_set.objects import DaemonSet
from gate.core.kinds.daemon_set.placement import Placement, is_new, key_of, own_pods
from gate.core.model.objects import CleanText, Pod
from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.core.rollout.causes import Trouble, trouble_of
from gate.core.rollout.controller_faults import Fault, name_with_revision
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import BlockingPod, View


def find_left_pods(view: View[ControllerRevision], live: DaemonSet) -> tuple[BlockingPod, ...]:
    """Return the pods that would stay, by name, none where the template is the same."""
    now = view.live
    if not live.on_delete or now is None or now.template.body == live.template.body:
        return ()
    placement = Placement.of(view, live)
    left = [pod for pod in own_pods(view, live) if _is_left(view, placement, pod)]
    left.sort(key=lambda pod: pod.name)
    return tuple(BlockingPod(pod, is_taken_back=True) for pod in left if not pod.deleting)


def are_replaced(view: View[ControllerRevision], live: DaemonSet) -> bool:
    """Tell whether no pod is left behind, and each node that had one has another one instead.

    The status may not count yet what has just gone. Nodes that are not ready are not waited for.
    """
    if not _leaves(view, live):
        return True
    placement = Placement.of(view, live)
    if any(_is_left(view, placement, pod) for pod in own_pods(view, live)):
        return False
    ready = len(placement.followed) + placement.behind_ready
    return ready + placement.dead_present >= live.replicas


def find_blocking_pod(
    view: View[ControllerRevision], live: DaemonSet, limits: FailFast
) -> BlockingPod | None:
    """Return the pod to replace next: first what does not work, one at a time.

    One that works goes only while every node that is ready has an available pod.
    """
    if not _leaves(view, live) or live.observed_generation < live.generation:
        return None
    placement = Placement.of(view, live)
    alive = [pod for pod in own_pods(view, live) if pod.node not in placement.dead]
    if any(pod.deleting for pod in alive):
        return None
    left = sorted(
        (pod for pod in alive if _is_left(view, placement, pod)),
        key=lambda pod: (pod.ready, pod.node, pod.name),
    )
    if not left or (left[0].ready and not _are_available(placement, live, alive)):
        return None
    others = (pod for pod in alive if not _is_left(view, placement, pod))
    return BlockingPod(
        left[0],
        _find_trouble(view, live, left[0], limits),
        is_taken_back=True,
        is_last=live.current >= live.replicas and all(pod.ready for pod in others),
    )


def find_broken_pod(
    view: View[ControllerRevision], live: DaemonSet, limits: FailFast
) -> BlockingPod | None:
    """Return a pod of another revision that is not ready, and that nothing replaces by OnDelete.

    Its node lacks an available pod until a person deletes it. One that works may stay.
    """
    if not live.on_delete or not view.current_key or live.observed_generation < live.generation:
        return None
    dead = Placement.of(view, live).dead
    broken = [
        pod
        for pod in own_pods(view, live)
        if not (pod.ready or pod.deleting or is_new(view, pod) or pod.node in dead)
    ]
    if not broken:
        return None
    first = min(broken, key=lambda pod: (pod.node, pod.name))
    return BlockingPod(first, _find_trouble(view, live, first, limits))


def _find_trouble(
    view: View[ControllerRevision], live: DaemonSet, pod: Pod, limits: FailFast
) -> Trouble | None:
    """Return what is wrong with a pod, by the template of its own revision."""
    key = key_of(pod)
    of_version = (one for one in view.list_owned() if f"{live.uid}/{one.label_value}" == key)
    revision = next(of_version, None)
    template = live.template if revision is None else revision.template
    return trouble_of(view.pods[pod.uid].with_all_restarts(), template, limits)


def fault_of(blocking: BlockingPod, view: View[ControllerRevision], live: DaemonSet) -> Fault:
    """Return the pod as what a reader sees among the causes, with those that are left beside it.

    The clocks decide.
    """
    pod, trouble = blocking.pod, blocking.trouble
    said = f": {trouble.message}" if trouble is not None else ""
    placement = Placement.of(view, live)
    alike = (one for one in own_pods(view, live) if _is_left(view, placement, one))
    name = name_with_revision(pod, alike if blocking.is_taken_back else ())
    message = f"{name} is left as it is by the controller (OnDelete){said}"
    subject = f"pod/{pod.name}"
    return Fault(
        Reason.BLOCKED_BY_POD, CleanText(message), subject=subject, remedy=Remedy.DELETE_POD
    )


def _leaves(view: View[ControllerRevision], live: DaemonSet) -> bool:
    """Tell whether pods of a version that is taken back would stay."""
    version = view.taken_back
    return live.on_delete and bool(version and view.current_key) and version != view.current_key


def _are_available(placement: Placement, live: DaemonSet, alive: Collection[Pod]) -> bool:
    """Tell whether each node that is not dead has an available pod.

    Only the status knows `minReadySeconds`, and the pods show first that one is gone or unready.
    """
    wanted = placement.count_wanted(live)
    nodes = {pod.node for pod in alive}
    are_ready = all(pod.ready for pod in alive) and len(nodes) >= wanted
    return are_ready and live.available - placement.dead_ready >= wanted


def _is_left(view: View[ControllerRevision], placement: Placement, pod: Pod) -> bool:
    return view.has_moved(pod, view.taken_back) and pod.node not in placement.dead
