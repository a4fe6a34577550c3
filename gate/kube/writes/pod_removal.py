"""Removes one pod, for its controller to replace it: by an eviction, or by a deletion.

An eviction asks the PodDisruptionBudgets (policy/v1 Eviction): 429 with the cause DisruptionBudget
is their refusal and no throttling, 500 means that several of them select the pod. Pending pods, and
unready ones where the budget is met without them, pass.
"""

from __future__ import annotations

from gate.clock import Clock
from gate.core.protocol.effects import RemovePod
from gate.core.protocol.events import PodRemoval, Removal
from gate.core.rollout.policy import BlockedPods
from gate.kube.answers.failures import (
    ApiError,
    DisruptionForbidden,
    NotFound,
    NotServed,
    ResourceVersionConflict,
    UidMismatch,
    Unauthorized,
)
from gate.kube.client.client import Client
from gate.kube.kinds.pod import PODS


class PodRemover:
    """Executes removals."""

    def __init__(self, client: Client, clock: Clock) -> None:
        """Share the client's connections."""
        self._client = client
        self._clock = clock

    def perform(self, effect: RemovePod) -> PodRemoval:
        """Ask for the removal and say what became of it; never raises for an answer."""
        try:
            self._send(effect)
        except ApiError as error:
            removal = _meaning_of(error)
            return PodRemoval(self._clock.now(), effect.effect_id, removal, error.message)
        return PodRemoval(self._clock.now(), effect.effect_id, Removal.ACCEPTED)

    def _send(self, effect: RemovePod) -> None:
        namespace = effect.workload.namespace
        options = {"preconditions": {"uid": effect.uid}}
        if effect.how is BlockedPods.DELETE:
            about = {"apiVersion": "v1", "kind": "DeleteOptions"}
            path = PODS.path(namespace, effect.pod)
            self._client.write("DELETE", path, {**about, **options})
            return
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": effect.pod, "namespace": namespace},
            "deleteOptions": options,
        }
        self._client.write("POST", PODS.path(namespace, effect.pod, "eviction"), eviction)


def _meaning_of(error: ApiError) -> Removal:
    """Return what an error says of the pod: one that is gone needs no removal any more.

    Credentials that are not taken now may be later, as for a write.
    """
    match error:
        case DisruptionForbidden():
            return Removal.GUARDED
        case NotServed():
            return Removal.REFUSED
        case NotFound() | UidMismatch():
            return Removal.ACCEPTED
        case ResourceVersionConflict() | Unauthorized():
            return Removal.UNANSWERED
    return Removal.UNANSWERED if error.transient or not error.untouched else Removal.REFUSED
