"""What a lock remembers of its workload's number of replicas: ownership of fields holds no values.

A number that the gate wrote to keep or to return it is its own by its owner, whoever had set it.
"""

from __future__ import annotations

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ClosingReplicas:
    """What the end of an attempt says of the number of replicas of one workload.

    `applied` is the manifest's number if that was applied and not taken back, else None: the
    remembered number stays. `scaled_down` is whether the attempt scaled it to 0, None if it left
    the 0 replicas that it found. `others` is the number to which somebody else had scaled it and
    that the attempt has kept or returned as the gate's own, None for none.
    """

    applied: int | None = None
    scaled_down: bool | None = False
    others: int | None = None


@dataclass(frozen=True, slots=True)
class KnownReplicas:
    """What is known of the number of replicas of one workload.

    `applied` is the last number that was applied because a manifest asked for it, None if none is
    known. `scaled_down` is true while a scale-down of ours to 0 may be in effect. `others` is a
    number of somebody else that the gate has written since `applied` was, None for none.
    """

    applied: int | None = None
    scaled_down: bool = False
    others: int | None = None

    def after(self, end: ClosingReplicas) -> KnownReplicas:
        """Return what is known once one more attempt has ended."""
        applied = self.applied if end.applied is None else end.applied
        scaled_down = self.scaled_down if end.scaled_down is None else end.scaled_down
        earlier = self.others if end.applied is None else None
        return KnownReplicas(applied, scaled_down, earlier if end.others is None else end.others)
