"""What ran and served before our write: the only version that a rollback returns to by itself."""

from __future__ import annotations

from dataclasses import dataclass

from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.objects import Template
from gate.core.rollout.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Baseline:
    """The version that served: its ReplicaSet, revision (None if unknown) and template."""

    replica_set: str
    revision: int | None
    template: Template
    pod_template_hash: str = ""


def baseline_of(snapshot: Snapshot) -> Fact[Baseline]:
    """Return what serves in `snapshot`.

    It serves if the Deployment is `Available` and the ReplicaSet of the live template owns all
    available pods, at least one: an autoscaler in mid-scaling or one missing pod does not
    disqualify it. `Available=True` alone is not enough: with maxUnavailable 100 % it holds without
    any pod.
    """
    live = snapshot.live
    if live is None:
        return snapshot.workload if isinstance(snapshot.workload, Unknown) else Absent()
    current = snapshot.current()
    if current is None or not live.available or current.available_replicas < 1:
        return Absent()
    if any(rs.available_replicas for rs in snapshot.list_owned() if rs.uid != current.uid):
        return Absent()
    revision = current.revision or live.revision
    return Known(Baseline(current.name, revision, live.template, current.pod_template_hash))
