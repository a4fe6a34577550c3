"""What an attempt that no longer runs left open on a workload, and how to finish it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gate.app.locks.acquisition import record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.lock_state import LockState, state_of
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of, workload_ref
from gate.cluster_name import ClusterName
from gate.core.kinds.registry import has_way_back
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.plan.journal_record import Record
from gate.core.plan.leg import Leg
from gate.kube.failures import ApiError
from gate.kube.kinds.registry import find_by_word
from gate.kube.lease import Held, Leases
from gate.processes import Processes
from gate.report.words.object_names import some_names
from gate.wire.decode import DecodeError
from gate.wire.record import read_record

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An attempt that was left open: how to finish it, and its record, None if unreadable."""

    recovery: str
    record: Record | None

    @property
    def is_going_back(self) -> bool:
        """Whether it was on its way back: nothing is as it was meant to be until that ends."""
        return self.record is not None and self.record.leg is Leg.BACK


def find_unfinished(session: Session, ref: Ref, processes: Processes) -> Unfinished | None:
    """Return what was left open on a workload.

    None if nothing was, if the lock with the record is held, or if it cannot be read. The record
    may be in the lock of another workload of the same attempt.
    """
    leases = Leases(lock_client(session))
    try:
        places = tuple(_find_places(leases, ref))
    except ApiError:
        return None
    for place in places:
        if said := describe_unfinished(session, place, processes):
            return Unfinished(said, read_open_record(place))
    return None


def recovery_of(session: Session, ref: Ref, processes: Processes) -> str:
    """Say how to finish what was left open on a workload, as `find_unfinished`; "" for nothing."""
    found = find_unfinished(session, ref, processes)
    return "" if found is None else found.recovery


def _find_places(leases: Leases, ref: Ref) -> Iterator[Held]:
    """Yield the Leases with a record about a workload."""
    for held in find_locks(leases, ref):
        yield from record_places(leases.read, held)


def find_locks(leases: Leases, ref: Ref) -> list[Held]:
    """Return the Lease of a workload; of a Job, which has none, those whose record names it."""
    held = leases.read(lock_of(ref))
    if held is not None or has_way_back(ref):
        return [held] if held is not None else []
    return [one for one in leases.all(ref.namespace) if _is_about(one, ref)]


def _is_about(held: Held, ref: Ref) -> bool:
    record = read_open_record(held)
    return record is not None and any(followed.ref == ref for followed in record.followed)


def describe_unfinished(session: Session, place: Held, processes: Processes) -> str:
    """Say whose attempt is unfinished, by its record, and how to finish it; "" while it is held."""
    state = state_of(place, session.clock.wall(), processes)
    if state is LockState.HELD or not place.record:
        return ""
    command = recovery_command(session.connection.cluster, place.lock)
    if state is LockState.RELEASED:
        return (
            f"{place.lock} was released from {place.holder.held_last_by}, which may still be at"
            f" work; once it has ended, to finish it: {command}"
        )
    record = read_open_record(place)
    refs = [one.ref for one in record.followed] if record is not None else []
    attempt = "the attempt on " if len(refs) > 1 else ""
    return f"{attempt}{name_followed(refs, place.lock)} is unfinished; to finish it: {command}"


def name_followed(refs: Iterable[Ref], lock: Lock) -> str:
    """Return what an attempt is about: its workloads in their order, else what its lock is of."""
    return some_names(list(map(str, refs)), _MOST_NAMED) or str(lock)


def read_open_record(held: Held) -> Record | None:
    """Return the record in a Lease, None if there is none that can be read."""
    try:
        return read_record(held.record) if held.record else None
    except DecodeError:
        return None


def recovery_command(cluster: ClusterName, lock: Lock) -> str:
    """Return the command that finishes a lock's record: by name where a name alone means it."""
    locks, namespace = str(lock), lock.namespace
    word, _, name = locks.partition("/")
    is_workload = find_by_word(word) is not None
    ref = workload_ref(namespace, locks) if is_workload else workload_ref(namespace, name)
    named = [argument_of(ref)] if str(lock_of(ref)) == locks else []
    return cluster.command("rollout-gate", "recover", *named, namespace=namespace)
