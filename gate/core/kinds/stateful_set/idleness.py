"""What shows that the StatefulSet controller does not act."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.lasting import UNOBSERVED
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.rollout.workload_kind import View

MISCOUNTED: Final = "the controller has not counted the ready pods of the StatefulSet"
UNREPLACED: Final = "the controller has not replaced a pod although all of them are available"


def sign_of_idleness(view: View[ControllerRevision], live: StatefulSet) -> str:
    """Return what shows that the controller does not act, "" if nothing does.

    A pod of which nobody knows when it is ready for `minReadySeconds`, or that may not be created,
    is no sign: only what the controller could do at once, or count.
    """
    if not live.is_observed:
        return UNOBSERVED
    own = live.own_pods(view.pods.values())
    if own and sum(track.pod.ready for track in own) != live.ready_replicas:
        return MISCOUNTED
    if any(track.pod.deleting for track in own):  # counted as available while it is still ready
        return ""
    is_whole = live.status_replicas == live.available_replicas == live.replicas
    return UNREPLACED if is_whole and live.updated_replicas < live.to_update else ""


def controller_counters(live: StatefulSet) -> tuple[int, ...]:
    """Return what the controller counts: a change shows that it acts."""
    return (
        live.generation - live.observed_generation,
        live.status_replicas,
        live.updated_replicas,
        live.ready_replicas,
        live.available_replicas,
    )
