"""What keeps a Deployment from rolling out: no ReplicaSet created, pods denied."""

from __future__ import annotations

from gate.core.kinds.deployment import completion
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.kinds.deployment.reasons import DeploymentReason
from gate.core.model.objects import Condition
from gate.core.rollout.controller_faults import Fault, denial_of_pods, find_ending_pods
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import View


def faults(view: View[ReplicaSet], live: Deployment, limits: FailFast) -> tuple[Fault, ...]:
    """Return what keeps the controllers from rolling out; denied pods decide first.

    `Recreate` waits for each old pod to be gone; where all else is done only such a wait is left.
    """
    current, erring = view.current(), create_error(live)
    failure = current.failure if current is not None else None
    found = []
    if failure is not None:
        found.append(denial_of_pods(failure.message, view.denied_since[view.current_uid], limits))
    if erring is not None:
        grace_seconds = limits.replica_set_create_seconds
        reason = DeploymentReason.REPLICA_SET_CREATE_ERROR
        found.append(Fault(reason, erring.message, grace_seconds, shows_early=True))
    if live.recreate or completion.is_rolled_out(view, live):
        found += find_ending_pods(_list_awaited(view, live), is_new=lambda _: False)
    return tuple(found)


def _list_awaited(view: View[ReplicaSet], live: Deployment) -> list[PodTrack]:
    """Return the old pods that are being deleted and that are waited for."""
    ending = [one for one in view.pods.values() if one.pod.deleting]
    if not ending:
        return []
    owned = {one.uid for one in view.list_owned()} - {view.current_uid}
    old = (one for one in ending if one.pod.owner_uid in owned)
    return [one for one in old if live.recreate or view.starts_to_go(one.pod)]


def create_error(live: Deployment) -> Condition | None:
    """Return the condition that says that the new ReplicaSet cannot be created.

    The deployment controller writes it without raising `observedGeneration`.
    """
    found = live.condition("Progressing")
    return found if found is not None and found.reason == "ReplicaSetCreateError" else None
