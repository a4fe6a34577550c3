"""The pod at which a StatefulSet's controller stops.

With `OrderedReady` the controller walks upwards and stops at the first pod that is not available
(`processReplica`), also where a newer template would replace it: kubernetes#67250.
"""

from __future__ import annotations

from collections.abc import Iterable

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set import left_behind
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.core.rollout.causes import Trouble, trouble_of
from gate.core.rollout.controller_faults import Fault, name_with_revision
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import BlockingPod, View


def find_blocking_pod(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast
) -> BlockingPod | None:
    """Return the lowest pod that is not available, if it is of another revision than the new one.

    A pod that is missing or terminates is the controller's to bring back. One of the new revision
    is no obstacle to that revision: what is wrong with it is. Where all are available, it is the
    highest that still runs a version that is taken back, and that the controller leaves as it is.
    """
    if not live.is_observed or not live.update_revision:
        return None
    by_index = {live.index_of(track.pod): track for track in live.own_pods(view.pods.values())}
    for index in range(live.replicas):
        track = by_index.get(index)
        if track is None or not track.counts:
            return None
        if not track.pod.ready:
            is_new = track.pod.revision_label == live.update_revision
            if is_new and not left_behind.is_left(view, live, track.pod):
                return None
            if live.is_parallel and _is_any_starting(live, by_index.values()):
                return None
            return _blocking(view, live, limits, track)
    if live.available_replicas < live.replicas:
        return None
    highest_first = (by_index[index] for index in reversed(range(live.replicas)))
    left = (track for track in highest_first if left_behind.is_left(view, live, track.pod))
    return next((_blocking(view, live, limits, track) for track in left), None)


def _is_any_starting(live: StatefulSet, tracks: Iterable[PodTrack]) -> bool:
    """Tell whether a pod of the new revision is not ready: `Parallel` goes on below it by itself.

    With the feature MaxUnavailableStatefulSet it goes on only once that one is available.
    """
    new = (one.pod for one in tracks if one.pod.revision_label == live.update_revision)
    return any(not pod.ready for pod in new)


def fault_of(blocking: BlockingPod, view: View[ControllerRevision], live: StatefulSet) -> Fault:
    """Return the pod as what a reader sees among the causes; the clocks decide.

    It is the one that has to go, unless it would come back as it is. All others that are left with
    it have to go as well.
    """
    pod, trouble = blocking.pod, blocking.trouble
    said = f": {trouble.message}" if trouble is not None else ""
    left = left_behind.find_left_pods(view, live) if blocking.is_taken_back else ()
    name = name_with_revision(pod, (one.pod for one in left))
    if blocking.is_taken_back:
        state = f"{name} is left as it is by the controller ({live.strategy})"
    elif live.on_delete:
        state = f"{name} is not available, and the controller replaces none"
    else:
        state = f"{name} is not available, and the controller waits for it"
    kept = f"; {blocking.obstacle}" if blocking.obstacle else ""
    remedy = _remedy_of(blocking, live)
    subject = "" if remedy is Remedy.LOWER_PARTITION else f"pod/{pod.name}"
    message = CleanText(f"{state}{said}{kept}")
    return Fault(Reason.BLOCKED_BY_POD, message, subject=subject, remedy=remedy)


def _remedy_of(blocking: BlockingPod, live: StatefulSet) -> Remedy:
    """Return what it takes for the pod to be replaced by one of the version that is wanted."""
    if live.revision_after(blocking.pod) == blocking.pod.revision_label:
        return Remedy.LOWER_PARTITION
    is_awaited = not (blocking.is_taken_back or blocking.obstacle)
    return Remedy.REPLACE_POD if is_awaited else Remedy.DELETE_POD


def _blocking(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast, track: PodTrack
) -> BlockingPod:
    is_left = left_behind.is_left(view, live, track.pod)
    obstacle = left_behind.find_obstacle(live, track.pod, is_taken_back=is_left)
    trouble = _trouble_of(view, live, limits, track)
    is_last = left_behind.are_others_done(view, live, track.pod)
    return BlockingPod(track.pod, trouble, obstacle, is_left, is_last)


def _trouble_of(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast, track: PodTrack
) -> Trouble | None:
    """Return what is wrong with a pod of an older version, by the template that it has.

    Restarts from before our write count: they are no evidence against the new version, and all the
    more that this pod will not recover.
    """
    owned = (one for one in view.list_owned() if one.name == track.pod.revision_label)
    revision = next(owned, None)
    template = live.template if revision is None else revision.template
    return trouble_of(track.with_all_restarts(), template, limits)
