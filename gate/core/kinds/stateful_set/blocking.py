"""The pod at which a StatefulSet's controller stops.

With `OrderedReady` the controller walks upwards and stops at the first pod that is not available
(`processReplica`), also where a newer template would replace it: kubernetes#67250.
"""

from __future__ import annotations

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.rollout.causes import Trouble, trouble_of
from gate.core.rollout.controller_faults import Fault
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import BlockingPod, View


def find_blocking_pod(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast
) -> BlockingPod | None:
    """Return the lowest pod that is not available, if it is of another revision than the new one.

    A pod that is missing or terminates is the controller's to bring back. One of the new revision
    is no obstacle to that revision: what is wrong with it is.
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
            return None if is_new else _blocking(view, live, limits, track)
    return None


def fault_of(blocking: BlockingPod) -> Fault:
    """Return the pod as what a reader sees among the causes; the clocks decide.

    It is the one that has to go, unless something else keeps it from coming back as a new one.
    """
    said = f": {blocking.trouble.message}" if blocking.trouble is not None else ""
    kept = f"; {blocking.obstacle}" if blocking.obstacle else ""
    message = (
        f"{blocking.pod.name} of revision {blocking.pod.revision_label or 'unknown'} is not"
        f" available, and the controller waits for it{said}{kept}"
    )
    subject = "" if blocking.obstacle else f"pod/{blocking.pod.name}"
    return Fault(StatefulSetReason.BLOCKED_BY_POD, CleanText(message), subject=subject)


def _blocking(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast, track: PodTrack
) -> BlockingPod:
    obstacle, index = "", live.index_of(track.pod) or 0
    if live.on_delete:
        obstacle = "with OnDelete a pod is replaced by whoever deletes it"
    elif index < live.partition:
        obstacle = (
            f"it is below the partition {live.partition}, and would come back at"
            f" {live.current_revision or 'its revision'}"
        )
    return BlockingPod(track.pod, _trouble_of(view, live, limits, track), obstacle)


def _trouble_of(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast, track: PodTrack
) -> Trouble | None:
    """Return what is wrong with a pod of an older version, by the template that it has.

    Restarts from before our write count: they are no evidence against the new version, and all the
    more that this pod will not recover.
    """
    owned = (one for one in view.list_owned() if one.name == track.pod.revision_label)
    revision = next(owned, None)
    containers = FrozenMap(
        (name, kept.with_all_restarts()) for name, kept in track.containers.items()
    )
    template = live.template if revision is None else revision.template
    return trouble_of(track.with_containers(containers), template, limits)
