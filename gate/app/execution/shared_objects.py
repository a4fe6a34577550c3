"""Which objects that a dead gate created are used by other runs of the gate since.

Another run that applies the very same object leaves no trace in it: what it was verified with
stands in the Lease of its Deployment alone, and what it is at in its record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from gate.app.locks.held_locks import history_of
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.plan.journal_record import Record
from gate.core.ssa.applied_fields import applied_digest
from gate.core.steps.resumption import Found
from gate.kube.failures import Forbidden
from gate.kube.lease import Held, Leases
from gate.wire.decode import DecodeError
from gate.wire.record import read_record


def held_by_others(
    leases: Leases, record: Record, lock: Lock, found: Found, warn: Callable[[str], None]
) -> FrozenMap[Ref, str]:
    """Return what a recovery is not to delete, and why; empty where it deletes nothing.

    `lock` is where the record stands. Without the right to list Leases nobody can tell, and all
    that the dead gate created stays.
    """
    created = _select_created(record, found) if record.policy.prune_created else {}
    own = {lock, *(lock_of(one.ref.namespace, one.ref.name) for one in record.followed)}
    held: dict[Ref, str] = {}
    for namespace in sorted({ref.namespace for ref in created}):
        there = {ref: live for ref, live in created.items() if ref.namespace == namespace}
        try:
            others = [one for one in leases.all(namespace) if one.lock not in own]
        except Forbidden:
            why = f"it takes the right to list Leases in {namespace} to tell who else uses it"
            held |= dict.fromkeys(there, why)
            continue
        for other in others:
            held |= dict(_find_used(other, there, warn))
    return FrozenMap(held)


def _select_created(record: Record, found: Found) -> dict[Ref, LiveObject]:
    """Return what is live of the namespaced objects that the dead gate's apply was to create."""
    kept = (one.ref for one in record.objects if isinstance(one.before, Absent))
    lives = ((ref, found[ref]) for ref in kept if ref.namespace)
    return {ref: fact.value for ref, fact in lives if isinstance(fact, Known)}


def _find_used(
    other: Held, created: dict[Ref, LiveObject], warn: Callable[[str], None]
) -> Iterator[tuple[Ref, str]]:
    """Yield what another lock's Deployment was verified with, or its attempt is at."""
    verified = history_of(other, warn).once_verified
    under_way = _read_recorded_refs(other)
    for ref, live in created.items():
        if any(one.members.get(ref) == applied_digest(live) for one in verified):
            yield ref, f"{other.lock} was verified with it"
        elif ref in under_way:
            yield ref, f"the attempt of {other.lock} that is not finished needs it"


def _read_recorded_refs(other: Held) -> Collection[Ref]:
    """Return what the record of another attempt names; one that cannot be read names nothing."""
    if not other.record:
        return ()
    try:
        return {one.ref for one in read_record(other.record).objects}
    except DecodeError:
        return ()
