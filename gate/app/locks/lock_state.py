"""Whether the attempt that holds a lock still runs, judged from one read of the lock.

It compares this machine's clock with the Lease's time, since it does not watch the lock until it
expires. So it decides nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from gate.core.model.lock_holder import Holder, is_proven_dead
from gate.kube.locks.lease import Held
from gate.processes import Processes


class LockState(StrEnum):
    """The state of a lock; `DEAD` means that its holder was a process of this machine that is gone.

    `RELEASED` means that somebody released it for a run that left a record open and may be alive.
    """

    FREE = "free"
    RELEASED = "released"
    HELD = "held"
    DEAD = "dead"
    EXPIRED = "expired"


def state_of(held: Held, now: datetime, processes: Processes) -> LockState:
    """Return the state of a lock, judged by this machine's clock and processes."""
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
    """Tell whether the holder was a process of this machine that has ended."""
    return _has_ended(held.holder, processes)


def may_run_without_lock(holder: Holder, processes: Processes) -> bool:
    """Tell whether a lock was released for a holder that is not proven to have ended."""
    return holder.was_released and not _has_ended(holder, processes)


def what_is_known_of(holder: Holder, processes: Processes) -> str:
    """Say, in a relative clause, what is known of the holder's process."""
    if _has_ended(holder, processes):
        return "whose process has ended"
    here = processes.this()
    if here is not None and holder.process is not None and here.shares_pids_with(holder.process):
        return f"whose process {holder.process.pid} still runs on this machine"
    return "whose process may still run"


def _has_ended(holder: Holder, processes: Processes) -> bool:
    return is_proven_dead(holder, Holder("", process=processes.this()), processes.has_ended)
