"""A `pause` during another run on the workload: that run goes on, or died and left its record."""

from __future__ import annotations

from gate.app.locks.acquisition import record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.lock_state import LockState, state_of
from gate.app.locks.unfinished_attempt import find_locks
from gate.app.runtime.console import Warn
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import workload_ref
from gate.kube.answers.failures import ApiError
from gate.kube.locks.lease import Held, Leases
from gate.processes import Processes


def warn_of_run(session: Session, name: str, processes: Processes, warn: Warn) -> None:
    """Warn what a pause does to the run that holds the lock, or to what a dead one left.

    Says nothing about a lock that cannot be read or that nobody uses.
    """
    leases = Leases(lock_client(session))
    try:
        held = next(iter(find_locks(leases, workload_ref(session.namespace, name))), None)
        if held is None:
            return
        state = state_of(held, session.clock.wall(), processes)
        is_open = state is not LockState.HELD and bool(record_places(leases.read, held))
    except ApiError:
        return
    if state is LockState.HELD:
        warn(
            f"{held.lock} is locked by {held.holder}: that run may have to wait for the pause to"
            " end, and fails (Paused) if its time runs out first; to end the pause before that, use"
            " `kubectl rollout resume`: `rollout-gate resume` would wait for that run"
        )
    elif is_open:
        warn(
            f"{_describe_holder(held, state)}: that attempt is unfinished, and `rollout-gate"
            " recover` does not end a pause: what is half-way stays so until somebody resumes it"
        )


def _describe_holder(held: Held, state: LockState) -> str:
    """Say who left a record unfinished."""
    match state:
        case LockState.DEAD:
            return f"{held.lock} is locked by {held.holder}, whose process has ended"
        case LockState.EXPIRED:
            return f"{held.lock} is locked by {held.holder}, which does not renew its lock"
        case LockState.RELEASED:
            return f"{held.lock} was released from {held.holder.held_last_by}, which may still run"
        case _:
            return f"{held.lock} was left by an attempt that ended half-way"
