"""A Deployment in a report: ReplicaSets keep its versions."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.deployment.reasons import DeploymentReason
from gate.core.model.outcome import Reason
from gate.report.kinds.kind import REPLICA_SET, Advice, WorkloadWords

_UNCREATED: Final = DeploymentReason.REPLICA_SET_CREATE_ERROR

DEPLOYMENT: Final = WorkloadWords(
    "Deployment",
    version=REPLICA_SET,
    parts="replicasets,pods",
    ends={Reason.VACUOUS: "{name} has 0 replicas: nothing runs"},
    steps={_UNCREATED: (Advice("correct what the controller could not create, then apply again"),)},
    limits={_UNCREATED: "replicaset-create"},
)
