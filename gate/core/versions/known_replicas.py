"""What a lock remembers of its workload's number of replicas: ownership of fields holds no values.

A number that a way back has returned is the gate's own by its owner, whoever had set it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClosingReplicas:
    """What the end of an attempt says of the number of replicas of one workload.

    `applied` is the manifest's number if that was applied and not taken back, else None: the
    remembered number stays. `scaled_down` is whether the attempt scaled it to 0, None if it left
    the 0 replicas that it found. `returned` is the number to which somebody else had scaled it and
    that the way back has returned, None for none.
    """

    applied: int | None = None
    scaled_down: bool | None = False
    returned: int | None = None


@dataclass(frozen=True, slots=True)
class KnownReplicas:
    """What is known of the number of replicas of one workload.

    `applied` is the last number that was applied because a manifest asked for it, None if none is
    known. `scaled_down` is true while a scale-down of ours to 0 may be in effect. `returned` is a
    number of somebody else that a way back has returned since `applied` was, None for none.
    """

    applied: int | None = None
    scaled_down: bool = False
    returned: int | None = None

    def after(self, end: ClosingReplicas) -> KnownReplicas:
        """Return what is known once one more attempt has ended."""
        applied = self.applied if end.applied is None else end.applied
        scaled_down = self.scaled_down if end.scaled_down is None else end.scaled_down
        earlier = self.returned if end.applied is None else None
        return KnownReplicas(
            applied, scaled_down, earlier if end.returned is None else end.returned
        )
