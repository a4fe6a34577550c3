"""What the pods of a Deployment tell of its version before it was scaled up.

Its own conditions do not always: without a progress deadline there is no `Progressing`, and a pause
replaces what that had said of the last rollout (`syncRolloutStatus`, `checkPausedConditions`).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from gate.core.kinds.deployment.objects import ReplicaSet
from gate.core.model.moments import parse_moment
from gate.core.model.objects import Pod
from gate.core.rollout.workload_kind import View


def was_whole_before(view: View[ReplicaSet], current: ReplicaSet) -> bool:
    """Tell whether all pods that it lacks were created after the others had been ready, or will be.

    Then it has served with those alone: of a first rollout all pods are created together. Pods
    whose times are not known show nothing, nor does anything while another version has pods, or
    while something keeps pods from being created.
    """
    others = (one for one in view.list_owned() if one.uid != current.uid)
    if any(one.replicas or one.status_replicas for one in others):
        return False
    tracks = (track for track in view.pods.values() if track.counts)
    pods = [track.pod for track in tracks if track.pod.owner_uid == current.uid]
    if pods and all(pod.ready for pod in pods):
        return len(pods) < current.replicas and current.failure is None
    births = [(at, pod) for pod in pods if (at := parse_moment(pod.created_at)) is not None]
    later = sorted({at for at, _ in births})[1:]
    return len(births) == len(pods) and any(_were_ready_at(moment, births) for moment in later)


def _were_ready_at(moment: datetime, births: list[tuple[datetime, Pod]]) -> bool:
    """Tell whether all pods that were created before a moment were ready by then, and still are."""
    return all(_is_ready_since(pod, moment - at) for at, pod in births if at < moment)


def _is_ready_since(pod: Pod, age: timedelta) -> bool:
    """Tell whether a pod is ready, and was so before it had an age.

    Ages are by the API server's clock, and how long it took to start is by its kubelet's: no moment
    of one clock is compared with one of the other.
    """
    return pod.ready and pod.start_seconds is not None and pod.start_seconds < age.total_seconds()
