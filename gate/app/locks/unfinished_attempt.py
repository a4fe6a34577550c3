"""What an attempt that no longer runs left open on a Deployment, and how to finish it."""

from __future__ import annotations

from gate.app.locks.acquisition import record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.lock_state import LockState, state_of
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of
from gate.cluster_name import ClusterName
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.kube.failures import ApiError
from gate.kube.lease import Held, Leases
from gate.processes import Processes


def recovery_of(session: Session, ref: Ref, processes: Processes) -> str:
    """Say how to finish what was left open on a Deployment.

    "" if nothing was, if the lock with the record is held, or if it cannot be read. The record may
    be in the lock of another Deployment of the same attempt.
    """
    leases = Leases(lock_client(session))
    try:
        held = leases.read(lock_of(ref))
        places = record_places(leases.read, held) if held is not None else ()
    except ApiError:
        return ""
    return next(filter(None, (_recovery(session, ref, one, processes) for one in places)), "")


def _recovery(session: Session, ref: Ref, place: Held, processes: Processes) -> str:
    state = state_of(place, session.clock.wall(), processes)
    holder = place.holder.held_last_by if state is LockState.RELEASED else place.holder.identity
    if state is LockState.HELD:
        return ""
    command = recovery_command(session.connection.cluster, argument_of(ref), ref.namespace)
    return recovery_line(str(ref), state, holder, command)


def recovery_command(cluster: ClusterName, name: str, namespace: str) -> str:
    """Return the command that finishes a lock's record; a name of "" means the whole namespace."""
    names = [name] if name else []
    return cluster.command("rollout-gate", "recover", *names, namespace=namespace)


def recovery_line(locked: str, state: LockState, holder: str, command: str) -> str:
    """Say that the locked object is unfinished, and which command finishes it."""
    if state is LockState.RELEASED:
        return (
            f"{locked} was released from {holder}, which may still be at work;"
            f" once it has ended, to finish it: {command}"
        )
    return f"{locked} is unfinished; to finish it: {command}"
