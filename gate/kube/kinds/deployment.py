"""apps/v1 Deployment and its ReplicaSets."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.deployment.objects import DEPLOYMENT, REPLICA_SET
from gate.kube.kinds.kind import WatchedKind, WorkloadResources
from gate.kube.kinds.pod import LOGS, POD
from gate.kube.kinds.resource import Resource

DEPLOYMENTS: Final = Resource("apps", "v1", "Deployment", "deployments")
REPLICA_SETS: Final = Resource("apps", "v1", "ReplicaSet", "replicasets")

WORKLOAD: Final = WorkloadResources(
    watched=WatchedKind(DEPLOYMENT, DEPLOYMENTS),
    children=(WatchedKind(REPLICA_SET, REPLICA_SETS), POD),
    rights=(LOGS,),
    short_name="deploy",
)
