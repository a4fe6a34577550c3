"""What shows that the deployment controller and the ReplicaSet controller do not act."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.deployment.faults import create_error
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.kinds.lasting import UNOBSERVED
from gate.core.rollout.workload_kind import View

MISCOUNTED: Final = "the controllers have not counted the ready pods of the new ReplicaSet"
UNSCALED: Final = "the controllers have not created or deleted pods of the new ReplicaSet"


def sign_of_idleness(view: View[ReplicaSet], live: Deployment, ready_pods: int) -> str:
    """Return what shows that controllers do not act, "" if nothing does.

    A controller that writes why it cannot go on (`ReplicaSetCreateError`, `ReplicaFailure`) acts.
    """
    if live.observed_generation < live.generation:
        return UNOBSERVED if create_error(live) is None else ""
    current = view.current()
    if current is None or current.failure is not None:
        return ""
    if current.status_replicas != current.replicas:
        return UNSCALED
    if ready_pods != current.ready_replicas and view.pods:
        return MISCOUNTED
    return ""


def controller_counters(view: View[ReplicaSet], live: Deployment) -> tuple[int, ...]:
    """Return what controllers count: a change shows that they act."""
    current = view.current()
    behind = live.generation - live.observed_generation
    own = (behind, live.status_replicas, live.updated_replicas)
    if current is None:
        return own
    return (*own, current.status_replicas, current.ready_replicas, current.available_replicas)
