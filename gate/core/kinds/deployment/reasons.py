"""The reasons that Deployments alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class DeploymentReason(AnyReason):
    """What keeps a Deployment from rolling out."""

    REPLICA_SET_CREATE_ERROR = "ReplicaSetCreateError"
