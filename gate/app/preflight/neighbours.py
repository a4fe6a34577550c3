"""The workloads that other locks are of: what each was verified with, what attempts on it need.

They are read, never locked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gate.app.locks.command_locks import lock_client
from gate.app.runtime.live_state import read_facts
from gate.app.runtime.session import Session
from gate.core.kinds.registry import is_workload
from gate.core.model.fact import Unknown
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.plan.record import Record
from gate.core.ssa.applied_fields import digests_of
from gate.core.versions.history import History
from gate.core.versions.shared_members import Neighbours
from gate.kube.answers.failures import ApiError, Forbidden
from gate.kube.locks.lease import Held, Leases
from gate.wire.decode import DecodeError
from gate.wire.history import read_history
from gate.wire.record import read_record


def read_neighbours(session: Session, shared: Collection[Ref], own: Collection[Ref]) -> Neighbours:
    """Return the workloads, except `own`, that were verified with one of the `shared` objects.

    Their locks are those in the namespaces of these objects. What attempts that are not finished
    need comes with them, except those on `own`: their locks decide.
    """
    histories: dict[Ref, History] = {}
    attempts: dict[Lock, Record] = {}
    unread: list[str] = []
    for namespace in sorted({ref.namespace for ref in shared} - {""}):
        try:
            found = Leases(lock_client(session)).all(namespace)
        except Forbidden:
            unread.append(f"it takes the right to list Leases in {namespace}")
            continue
        except ApiError as error:
            unread.append(f"the Leases in {namespace} could not be read: {error.message}")
            continue
        for held in found:
            try:
                histories.update(_iter_users(held, shared))
                record = read_record(held.record) if held.record else None
            except DecodeError as error:
                unread.append(f"what {held.lock} remembers cannot be read: {error}")
                continue
            if record is not None and not any(one.ref in own for one in record.objects):
                attempts[held.lock] = record
    histories = {ref: history for ref, history in histories.items() if ref not in own}
    facts = read_facts(session, sorted(histories))
    unread += [
        f"{ref} could not be read: {fact.why}"
        for ref, fact in facts.items()
        if isinstance(fact, Unknown)
    ]
    return Neighbours(histories, digests_of(facts), attempts, tuple(unread))


def _iter_users(held: Held, shared: Collection[Ref]) -> Iterator[tuple[Ref, History]]:
    """Yield the workload of a lock if it was verified with one of the objects."""
    history = read_history(held.history)
    members = {ref for one in history.unrevoked for ref in one.members}
    if members.intersection(shared):
        yield from ((ref, history) for ref in members if _is_of(held, ref))


def _is_of(held: Held, ref: Ref) -> bool:
    return is_workload(ref) and lock_of(ref) == held.lock
