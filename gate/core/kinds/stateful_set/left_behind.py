"""The pods of a version that is taken back, and that a StatefulSet's controller leaves as they are.

A way back restores the update strategy with the template. By `OnDelete`, and below a partition, the
controller then replaces no pod: those of the failed version stay, whether they work or not.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.objects import Pod
from gate.core.rollout.workload_kind import BlockingPod, View


def is_left(view: View[ControllerRevision], live: StatefulSet, pod: Pod) -> bool:
    """Tell whether an attempt brought a pod to the version that is taken back, and it would stay.

    A version may be taken back that stays the new one, as where a partition is raised again: below
    it another one is to run. Once all pods ran it, each would come back at it, whoever deletes it.
    What ran the version before the attempt is as it was.
    """
    index = live.index_of(pod)
    return index is not None and live.holds(index) and view.has_moved(pod, view.taken_back)


def find_left_pods(view: View[ControllerRevision], live: StatefulSet) -> tuple[BlockingPod, ...]:
    """Return the pods that would stay, by name, each with why it may not be replaced.

    The controller has yet to make a revision of a template that is only planned.
    """
    now = view.live
    if now is not None and now.template.body != live.template.body:
        live = replace(live, update_revision="")
    own = sorted((one.pod for one in live.own_pods(view.pods.values())), key=lambda pod: pod.name)
    return tuple(
        BlockingPod(pod, obstacle=find_obstacle(live, pod, is_taken_back=True), is_taken_back=True)
        for pod in own
        if is_left(view, live, pod) and not pod.deleting
    )


def is_stopped_at_any(view: View[ControllerRevision], live: StatefulSet) -> bool:
    """Tell whether a pod that is not ready has the version that is taken back, and is to be new.

    Those below it may have been of the old version all along, as many as are asked for: they say
    nothing of this one, at which the controller stops.
    """
    own = (track.pod for track in live.own_pods(view.pods.values()))
    unready = (pod for pod in own if not pod.ready and view.has_moved(pod, view.taken_back))
    return any(
        (index := live.index_of(pod)) is not None and not live.holds(index) for pod in unready
    )


def are_replaced(view: View[ControllerRevision], live: StatefulSet) -> bool:
    """Tell whether no pod is left behind, and each one that was has another one in its place.

    The status may not count yet what has just gone.
    """
    if not view.taken_back or not (live.on_delete or live.partition):
        return True
    own = [track.pod for track in live.own_pods(view.pods.values())]
    if any(is_left(view, live, pod) for pod in own):
        return False
    there = (pod for pod in own if live.index_of(pod) is not None)
    return sum(pod.ready and not pod.deleting for pod in there) >= live.replicas


def are_others_done(view: View[ControllerRevision], live: StatefulSet, pod: Pod) -> bool:
    """Tell whether all pods are there, and none but those left behind has anything to become.

    Nor have those that are held at the version of `pod`, which is in the way.
    """
    own = {live.index_of(track.pod): track for track in live.own_pods(view.pods.values())}
    for index in range(live.replicas):
        track = own.get(index)
        if track is None or not track.counts:
            return False
        is_alike = live.holds(index) and track.pod.revision_label == pod.revision_label
        if track.pod.uid == pod.uid or is_alike or is_left(view, live, track.pod):
            continue
        is_new = track.pod.revision_label == live.update_revision
        if not track.pod.ready or not (is_new or live.holds(index)):
            return False
    return True


def find_obstacle(live: StatefulSet, pod: Pod, *, is_taken_back: bool) -> str:
    """Return why a pod that its controller does not replace may not go either, "" if it may."""
    if not live.holds(live.index_of(pod) or 0):
        return ""
    comes_back_at = live.revision_after(pod)
    if is_taken_back and comes_back_at != pod.revision_label:
        return ""
    if live.on_delete:
        return "with OnDelete a pod is replaced by whoever deletes it"
    return (
        f"it is below the partition {live.partition}, and would come back at"
        f" {comes_back_at or 'its revision'}"
    )
