"""What a lock that was looked at says of the attempt that has it: whether that still runs.

It compares clocks, for want of the minute that an expiry is watched for: it decides nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from gate.core.holder import Holder, is_proven_dead
from gate.kube.lease import Held
from gate.processes import Processes


class LockState(StrEnum):
    """Who has a lock; `DEAD` is a process of this machine that is gone."""

    FREE = "free"
    HELD = "held"
    DEAD = "dead"
    EXPIRED = "expired"


def state_of(held: Held, now: datetime, processes: Processes) -> LockState:
    """Return the state of a lock by this machine's clock and processes."""
    if held.is_free:
        return LockState.FREE
    if is_dead(held, processes):
        return LockState.DEAD
    try:
        renewed = datetime.fromisoformat(held.renewed)
    except ValueError:
        return LockState.HELD
    is_expired = now - renewed > timedelta(seconds=held.seconds)
    return LockState.EXPIRED if is_expired else LockState.HELD


def is_dead(held: Held, processes: Processes) -> bool:
    """Tell whether the holder's process was of this machine and has ended."""
    me = Holder("", process=processes.this())
    return is_proven_dead(held.holder, me, processes.has_ended)
