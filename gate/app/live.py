"""What runs now, read once: the ground of `status`, `history`, `undo` and their like."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.app.session import Session
from gate.core.events import Kind, Listed, LiveObject, Observed
from gate.core.fact import Known
from gate.core.folding import applied_found
from gate.core.objects import Deployment, ReplicaSet, deployment_ref
from gate.core.outcome import Reason
from gate.core.policy import Policy
from gate.core.rollout import Rollout
from gate.core.snapshot import Snapshot
from gate.errors import RefusedError
from gate.kube.reads import Reader


@dataclass(frozen=True, slots=True)
class Live:
    """A Deployment that exists, with its ReplicaSets and pods, as one read found them."""

    object: LiveObject
    deployment: Deployment
    snapshot: Snapshot

    @property
    def selector(self) -> Mapping[str, Any]:
        """The label selector."""
        selector: Mapping[str, Any] = self.object.body.thaw()["spec"]["selector"]
        return selector

    def revision(self, number: int) -> ReplicaSet | None:
        """Return the ReplicaSet of a revision, None where it is gone."""
        return next((rs for rs in self.snapshot.owned() if rs.revision == number), None)


def read_live(session: Session, name: str) -> Live:
    """Read a Deployment and what it owns; RefusedError where there is none of that name."""
    reader = Reader(session.client, session.resources, session.clock)
    ref = deployment_ref(session.namespace, name)
    fact = reader.live(ref)
    if not isinstance(fact, Known) or fact.value.deployment is None:
        raise RefusedError(
            f"there is no {ref} in namespace {session.namespace}",
            reason=Reason.NOT_FOUND,
            hint="is the namespace right? -n NAMESPACE",
        )
    deployment = fact.value.deployment
    replica_sets, pods = reader.parts(fact.value)
    now = session.clock.now()
    snapshot = Snapshot(ref, written=True).fold(Observed(now, deployment))
    snapshot = snapshot.fold(Listed(now, Kind.REPLICA_SET, ref, replica_sets))
    snapshot = snapshot.fold(Listed(now, Kind.POD, ref, pods))
    return Live(fact.value, deployment, snapshot)


def standing(live: Live, now: float) -> Rollout:
    """Judge what is there without waiting: restarts of before and a deadline condition count."""
    deployment = live.deployment
    believed_at = now - deployment.progress_deadline_seconds
    bare = Snapshot(deployment.ref).fold(Observed(now, deployment))
    rollout = Rollout.start(
        applied_found(believed_at, deployment), bare, Policy(), total_seconds=math.inf
    )
    for replica_set in live.snapshot.replica_sets.values():
        rollout = rollout.observe(Observed(now, replica_set))
    for track in live.snapshot.pods.values():
        rollout = rollout.observe(Observed(now, track.pod))
    return rollout
