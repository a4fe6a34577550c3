"""Deployments and ReplicaSets as values.

Field names follow the API (apps/v1); counters that the server omits are 0.
"""

from __future__ import annotations

import re
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Condition, Ref, Revision, Workload
from gate.core.rollout.observations import Kind

API_VERSION: Final = "apps/v1"
DEPLOYMENT: Final = Kind("Deployment")
REPLICA_SET: Final = Kind("ReplicaSet")
NO_DEADLINE_SECONDS = 2147483647
"""progressDeadlineSeconds of this value switches the deadline off (apps/v1 DeploymentSpec)."""
DEFAULT_REPLICAS: Final = 1
"""`spec.replicas` of a Deployment that does not set it (apps/v1 DeploymentSpec)."""
_NAMED: Final = re.compile(r'ReplicaSet "([^"]+)"')
"""The message of `Progressing` begins with it (`syncRolloutStatus`)."""
PAUSE_FIELD: Final = "paused"
"""The deployment controller scales no ReplicaSet while it is true: a template that returned
together with it would never get its pods."""
BOOKKEEPING: Final = frozenset({"deployment.kubernetes.io/revision"})
"""What the deployment controller writes into the annotations of a Deployment."""


def deployment_ref(namespace: str, name: str) -> Ref:
    """Name a Deployment."""
    return Ref(API_VERSION, DEPLOYMENT, namespace, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment(Workload):
    """An apps/v1 Deployment.

    `revision` is the controller's annotation, None before it wrote one. `terminating_replicas` is
    None if the server has no such field. `max_surge` and `max_unavailable` are as the API gives
    them, a number or a percentage; both are "0" for the strategy Recreate.
    """

    min_ready_seconds: int
    progress_deadline_seconds: int
    recreate: bool
    max_surge: str
    max_unavailable: str
    status_replicas: int
    updated_replicas: int
    ready_replicas: int
    available_replicas: int
    terminating_replicas: int | None

    @property
    def has_deadline(self) -> bool:
        """Whether its controller has a progress deadline: `progressDeadlineSeconds`."""
        return True

    @property
    def overlaps_versions(self) -> bool:
        """Whether pods of both versions serve side by side: with Recreate all old ones go first."""
        return not self.recreate

    @property
    def available(self) -> bool:
        """`Available=True`; with maxUnavailable 100 % true even without any pod."""
        found = self.condition("Available")
        return found is not None and found.status == "True"

    def was_rolled_out(self, current: ReplicaSet) -> bool:
        """Tell whether `Progressing` says so (`NewReplicaSetAvailable`); it stays while it scales.

        It can be true of a version that never served: with 0 replicas the controller writes it at
        once. With `Recreate` it may still name another ReplicaSet than the one that comes back.
        """
        found = self.condition("Progressing")
        if found is None or found.reason != "NewReplicaSetAvailable":
            return False
        named = _NAMED.match(found.message)
        return named is None or named[1] == current.name

    @property
    def rolled_out_at(self) -> str:
        """When `Progressing` last said something new, RFC 3339, "" if it is not known."""
        found = self.condition("Progressing")
        return found.updated_at if found is not None else ""

    @property
    def deadline_exceeded(self) -> bool:
        """`Progressing=False` with reason `ProgressDeadlineExceeded`."""
        found = self.condition("Progressing")
        return (
            found is not None
            and found.status == "False"
            and found.reason == "ProgressDeadlineExceeded"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSet(Revision):
    """An apps/v1 ReplicaSet; `label_value` is that of its label `pod-template-hash`.

    `earlier_revisions` come from the annotation `deployment.kubernetes.io/revision-history`.

    `generation` and `min_ready_seconds` tell whether its counters already follow the Deployment's
    own `minReadySeconds`; None if nobody read them.
    """

    replicas: int
    observed_generation: int
    status_replicas: int
    ready_replicas: int
    available_replicas: int
    conditions: tuple[Condition, ...]
    generation: int | None = None
    min_ready_seconds: int | None = None

    @property
    def failure(self) -> Condition | None:
        """`ReplicaFailure=True`: the controller could not create pods.

        Its other reason, `FailedDelete`, says nothing about a version.
        """
        for condition in self.conditions:
            if condition.type == "ReplicaFailure" and condition.status == "True":
                return None if condition.reason == "FailedDelete" else condition
        return None
