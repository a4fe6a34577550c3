"""The reasons that Deployments alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class DeploymentReason(AnyReason):
    """What keeps a Deployment from rolling out."""

    REPLICA_SET_CREATE_ERROR = "ReplicaSetCreateError"

    @property
    def is_of_surroundings(self) -> bool:
        """Whether the controller can create no version."""
        return self is DeploymentReason.REPLICA_SET_CREATE_ERROR
