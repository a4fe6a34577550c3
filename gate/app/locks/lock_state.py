"""What a lock that was looked at says of the attempt that has it: whether that still runs.

It compares clocks, for want of the minute that an expiry is watched for: it decides nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from gate.core.model.lock_holder import Holder, is_proven_dead
from gate.kube.lease import Held
from gate.processes import Processes


class LockState(StrEnum):
    """Who has a lock; `DEAD` is a process of this machine that is gone.

    `RELEASED` is that somebody gave it back for a run that has left a record open and may live.
    """

    FREE = "free"
    RELEASED = "released"
    HELD = "held"
    DEAD = "dead"
    EXPIRED = "expired"


def state_of(held: Held, now: datetime, processes: Processes) -> LockState:
    """Return the state of a lock by this machine's clock and processes."""
    if held.is_free:
        is_released = bool(held.record) and may_run_without_lock(held.holder, processes)
        return LockState.RELEASED if is_released else LockState.FREE
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
    return _has_ended(held.holder, processes)


def may_run_without_lock(holder: Holder, processes: Processes) -> bool:
    """Tell whether a lock was given back for a holder that nothing shows to have ended."""
    return holder.was_released and not _has_ended(holder, processes)


def what_is_known_of(holder: Holder, processes: Processes) -> str:
    """Say in a relative clause what is known of the process of a holder."""
    if _has_ended(holder, processes):
        return "whose process has ended"
    here = processes.this()
    if here is not None and holder.process is not None and here.shares_pids_with(holder.process):
        return f"whose process {holder.process.pid} still runs on this machine"
    return "whose process may still run"


def _has_ended(holder: Holder, processes: Processes) -> bool:
    return is_proven_dead(holder, Holder("", process=processes.this()), processes.has_ended)
