"""Which objects of a way back other runs of the gate have come to use, or had brought before.

It is about those that it deletes or restores, and those that it leaves: as the attempt found them,
or as others have changed them since. Another run that applies the very same object leaves no trace
in it: only the Lease of its workload says what it was verified with, and its record what it is
working on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gate.app.locks.command_locks import lock_client
from gate.app.runtime.live_state import read_facts
from gate.app.runtime.session import Session
from gate.core.kinds.registry import locks_of
from gate.core.model.body import FrozenMap
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import FindUsers
from gate.core.protocol.events import UsersFound
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.versions.brought_states import (
    BroughtState,
    LockMemory,
    find_brought,
    list_suspects,
)
from gate.core.versions.history import History
from gate.kube.answers.failures import ApiError, Forbidden
from gate.kube.locks.lease import Held, Leases
from gate.wire.decode import DecodeError
from gate.wire.history import read_history
from gate.wire.record import read_record


def answer_with_users(session: Session, plan: Plan, effect: FindUsers) -> UsersFound:
    """Answer which objects of an attempt others use, by the Leases in the objects' namespaces.

    If the server does not answer, or we may not list Leases, that is unknown.
    """
    own = locks_of((one.ref for one in plan.objects), session.namespace)
    used: dict[Ref, str] = {}
    unknown: dict[Ref, str] = {}
    memories: list[LockMemory] = []
    refs = dict.fromkeys((*effect.created, *effect.changed, *effect.states))
    for namespace in sorted({ref.namespace for ref in refs}):
        there = [ref for ref in refs if ref.namespace == namespace]
        try:
            leases = Leases(lock_client(session)).all(namespace)
        except Forbidden:
            why = f"it takes the right to list Leases in {namespace} to tell who else uses it"
            unknown |= dict.fromkeys(there, why)
            continue
        except ApiError as error:
            why = f"the other users of this object could not be read: {error.message}"
            unknown |= dict.fromkeys(there, why)
            continue
        since = _find_last_judged_at(leases, own)
        for one in leases:
            try:
                memory = _decode(one)
            except DecodeError as error:
                why = f"whether {one.lock} uses it cannot be read: {error}"
                unknown |= dict.fromkeys(there if one.lock not in own else (), why)
                continue
            memories.append(memory)
            if one.lock not in own:
                used |= dict(_find_used(memory, effect, there, since))
    states = {ref: one for ref, one in effect.states.items() if ref not in (*used, *unknown)}
    brought_states = _find_brought(session, states, memories, own) if states else FrozenMap()
    at, only = session.clock.now(), {ref: why for ref, why in unknown.items() if ref not in used}
    return UsersFound(at, effect.effect_id, FrozenMap(used), FrozenMap(only), brought_states)


def _decode(lease: Held) -> LockMemory:
    """Return what a lock remembers; DecodeError if a newer gate may have written it."""
    record = read_record(lease.record) if lease.record else None
    return LockMemory(lease.lock, read_history(lease.history), record)


def _find_brought(
    session: Session,
    states: Mapping[Ref, LiveObject],
    memories: Collection[LockMemory],
    own: Collection[Lock],
) -> FrozenMap[Ref, BroughtState]:
    """Return which of the states another run had brought, unverified; none if own locks are unread.

    Own locks in other namespaces than those of the objects are read one by one. A workload is read
    only if an attempt on it ended unverified with what was never verified.
    """
    mine = [one for one in memories if one.lock in own]
    others = [one for one in memories if one.lock not in own]
    leases = Leases(lock_client(session))
    try:
        for lock in sorted({*own} - {one.lock for one in mine}):
            if (held := leases.read(lock)) is None:
                return FrozenMap()
            mine.append(_decode(held))
    except (ApiError, DecodeError):
        return FrozenMap()
    suspects = sorted(list_suspects(states, mine, others))
    running = digests_of(read_facts(session, suspects)) if suspects else {}
    found = ((ref, find_brought(state, mine, others, running)) for ref, state in states.items())
    return FrozenMap((ref, one) for ref, one in found if one is not None)


def _find_last_judged_at(leases: Collection[Held], own: Collection[Lock]) -> str:
    """Return when the attempt's own workloads were judged last (RFC 3339), "" if that is unknown.

    Whoever was judged before that has not used what this attempt wrote.
    """
    times = [""]
    for one in leases:
        if one.lock not in own:
            continue
        try:
            times += [version.judged_at for version in read_history(one.history).versions]
        except DecodeError:
            continue
    return max(times)


def _find_used(
    other: LockMemory, effect: FindUsers, there: Collection[Ref], since: str
) -> Iterator[tuple[Ref, str]]:
    """Yield what another lock's workload was verified with, or its unfinished attempt needs."""
    history, record = other.history, other.record
    for ref in there:
        if ref in effect.created:
            live = effect.created[ref]
            is_verified = any(
                _has_digest(live, one.members.get(ref)) for one in history.once_verified
            )
            is_needed = record is not None and any(one.ref == ref for one in record.objects)
        elif ref not in effect.changed:
            continue
        else:
            live = effect.changed[ref]
            is_verified = _is_verified_since(history, ref, live, since)
            is_needed = record is not None and record.is_to_leave(ref, applied_digest(live))
        if is_verified:
            yield ref, f"{other.lock} was verified with it"
        elif is_needed:
            yield ref, f"the attempt of {other.lock} that is not finished needs it"


def _has_digest(live: LiveObject, digest: str | None) -> bool:
    return digest == applied_digest(live)


def _is_verified_since(history: History, ref: Ref, live: LiveObject, since: str) -> bool:
    """Tell whether the newest verified version has the object as it is, and is no older.

    It may have been verified with the same once, and with something else since. One that a failure
    returned to was found beside the object as it was, and brought nothing.
    """
    newest = next(iter(history.unrevoked), None)
    if newest is None or newest.judged_at < since or history.has_come_back(newest):
        return False
    return _has_digest(live, newest.members.get(ref))
