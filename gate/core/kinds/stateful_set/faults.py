"""What keeps a StatefulSet's controller from rolling out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set import blocking
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.objects import ClusterEvent, Pod
from gate.core.rollout.controller_faults import Fault, denial_of_pods, find_ending_pods
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import View

_UNCREATED: Final = re.compile(
    r"[Cc]reate Pod (\S+) in StatefulSet \S+ failed error: (.*)", re.DOTALL
)
"""The controller's event (`recordPodEvent`): a StatefulSet has no condition that says so.

Its first letter depends on the version of the controller.
"""


def faults(
    view: View[ControllerRevision], live: StatefulSet, limits: FailFast
) -> tuple[Fault, ...]:
    """Return what keeps the controller from rolling out; a denial of pods decides first."""
    denials = (denial_of_pods(event.message, None, limits) for event in _denials(view, live))
    found = next(denials, None)
    blocked = blocking.find_blocking_pod(view, live, limits)
    ending = (one for one in view.pods.values() if one.pod.deleting)
    return (
        *(() if found is None else (found,)),
        *(() if blocked is None else (blocking.fault_of(blocked, view, live),)),
        *find_ending_pods(
            (one for one in live.own_pods(ending) if _is_awaited(live, one.pod)),
            lambda pod: pod.revision_label == view.current_key,
        ),
    )


def _is_awaited(live: StatefulSet, pod: Pod) -> bool:
    """Tell whether anything waits for a pod that is being deleted to be gone.

    Nothing does below the partition, unless its pods wait for each other (`OrderedReady`).
    """
    index = live.index_of(pod)
    return not (live.is_parallel and index is not None and index < live.partition)


def _denials(view: View[ControllerRevision], live: StatefulSet) -> Iterator[ClusterEvent]:
    """Yield the events about pods of its range that could not be created and are not there now."""
    denials = tuple(view.events.list_denials(live.uid))
    if not denials:
        return
    there = {track.pod.name for track in live.own_pods(view.pods.values())}
    missing = set(live.pod_names) - there
    for event in denials:
        found = _UNCREATED.search(event.message)
        if found is not None and found[1] in missing:
            yield event
