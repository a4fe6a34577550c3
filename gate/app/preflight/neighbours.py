"""The workloads that other locks are of, and what each was verified with: read, never locked."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gate.app.locks.command_locks import lock_client
from gate.app.runtime.live_state import read_facts
from gate.app.runtime.session import Session
from gate.core.kinds.registry import is_workload
from gate.core.model.fact import Unknown
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.ssa.applied_fields import digests_of
from gate.core.versions.history import History
from gate.core.versions.shared_members import Neighbours
from gate.kube.answers.failures import ApiError, Forbidden
from gate.kube.locks.lease import Held, Leases
from gate.wire.decode import DecodeError
from gate.wire.history import read_history


def read_neighbours(session: Session, shared: Collection[Ref], own: Collection[Ref]) -> Neighbours:
    """Return the workloads, except `own`, that were verified with one of the `shared` objects.

    Their locks are those in the namespaces of these objects.
    """
    histories: dict[Ref, History] = {}
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
            except DecodeError as error:
                unread.append(f"what {held.lock} remembers cannot be read: {error}")
    histories = {ref: history for ref, history in histories.items() if ref not in own}
    facts = read_facts(session, sorted(histories))
    unread += [
        f"{ref} could not be read: {fact.why}"
        for ref, fact in facts.items()
        if isinstance(fact, Unknown)
    ]
    return Neighbours(histories, digests_of(facts), tuple(unread))


def _iter_users(held: Held, shared: Collection[Ref]) -> Iterator[tuple[Ref, History]]:
    """Yield the workload of a lock if it was verified with one of the objects."""
    history = read_history(held.history)
    members = {ref for one in history.unrevoked for ref in one.members}
    if members.intersection(shared):
        yield from ((ref, history) for ref in members if _is_of(held, ref))


def _is_of(held: Held, ref: Ref) -> bool:
    return is_workload(ref) and lock_of(ref) == held.lock
