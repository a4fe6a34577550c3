"""How many replicas an apply asks for where somebody may have scaled the Deployment by hand.

After `kubectl scale --replicas=0` no manager owns `spec.replicas`, so that the server itself would
let an apply write over it: only a number that was remembered tells.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ReplicasPolicy(enum.StrEnum):
    """Whose number counts where somebody has scaled the Deployment since the last apply.

    `KEEP` counts always: whatever the manifest asks for, nothing is scaled.
    """

    REFUSE = "refuse"
    KEEP = "keep"
    APPLY = "apply"


class Decision(enum.Enum):
    """What an apply does about `spec.replicas`."""

    MANIFEST = enum.auto()
    """It sends the manifest's number."""
    LIVE = enum.auto()
    """It sends the live number while no other manager owns the field, else leaves it out."""
    REFUSED = enum.auto()
    """Somebody has to say which."""


@dataclass(frozen=True, slots=True)
class Replicas:
    """The numbers of one Deployment that exists, and what follows from them.

    `wanted` is the manifest's, None where it names none; `applied` is what an apply sent last by
    a manifest, None where nobody remembers. `scaled_down` is whether the live 0 is what the gate
    itself left of a first version that failed (`--on-first-failure scale-to-zero`).
    """

    live: int
    wanted: int | None
    applied: int | None
    is_autoscaled: bool = False
    policy: ReplicasPolicy = ReplicasPolicy.REFUSE
    scaled_down: bool = False

    @property
    def decision(self) -> Decision:
        """What an apply does; a scale-down of our own is undone, also under an autoscaler.

        An autoscaler leaves a Deployment of no replicas alone.
        """
        if self.scaled_down and self.policy is not ReplicasPolicy.KEEP:
            return Decision.MANIFEST
        if self.is_autoscaled or self.wanted is None or self.policy is ReplicasPolicy.KEEP:
            return Decision.LIVE
        if self.was_scaled and self.policy is ReplicasPolicy.REFUSE:
            return Decision.REFUSED
        return Decision.MANIFEST

    @property
    def was_scaled(self) -> bool:
        """Whether somebody has scaled it to what the manifest does not ask for.

        Where nothing is remembered, only nought is a sign: nobody gets it from a default.
        """
        if self.wanted is None or self.live == self.wanted or self.scaled_down:
            return False
        if self.applied is None:
            return self.live == 0
        return self.live != self.applied

    @property
    def is_resumed(self) -> bool:
        """Whether a scale-down of our own ends."""
        return self.scaled_down and self.decision is Decision.MANIFEST and self.wanted != 0

    @property
    def is_imposed(self) -> bool:
        """Whether the manifest's number was asked for over somebody else's."""
        return (
            self.was_scaled
            and self.decision is Decision.MANIFEST
            and self.policy is ReplicasPolicy.APPLY
        )
