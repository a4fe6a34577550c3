"""States of shared objects that an unverified attempt of another run had brought.

An attempt that begins while another one is unfinished finds an object as that one wrote it. To
return it there is right while that attempt may still be verified. Once it has gone back, nothing
was ever verified with that state, and the object belongs to what serves again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body
from gate.core.model.confidential_bodies import body_digest
from gate.core.model.environment_values import with_values
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Record
from gate.core.rollout.policy import OnFailure
from gate.core.ssa.applied_fields import applied_body, applied_digest
from gate.core.versions.history import History


@dataclass(frozen=True, slots=True)
class LockMemory:
    """What a lock remembers of its workload, and the record of an unfinished attempt, if any."""

    lock: Lock
    history: History
    record: Record | None = None


@dataclass(frozen=True, slots=True)
class BroughtState:
    """A state that only an unverified attempt on `lock` had brought.

    `instead` is the body to return the object to, None if there is none: an unfinished attempt
    `needs` the state, or what it goes back to is not known. Then an object that this run changed
    returns to that state all the same, and one that it only found stays. `is_verified` is whether
    one of the own workloads was verified with `instead`.
    """

    lock: Lock
    needs: bool = False
    instead: Body | None = None
    is_verified: bool = False


def list_suspects(
    states: Mapping[Ref, LiveObject],
    own: Collection[LockMemory],
    others: Collection[LockMemory],
) -> frozenset[Ref]:
    """Return the other locks' workloads that were left unverified with what was never verified.

    Whether they still run what they were left with is to be read before `find_brought`.
    """
    digests = {ref: applied_digest(state) for ref, state in states.items()}
    return frozenset(
        workload
        for ref, digest in digests.items()
        if not _is_verified(ref, digest, (*own, *others))
        for one in others
        if _has_brought(one, ref, digest) and (workload := _workload_of(one)) is not None
    )


def find_brought(
    state: LiveObject,
    own: Collection[LockMemory],
    others: Collection[LockMemory],
    running: Mapping[Ref, str],
) -> BroughtState | None:
    """Return what is known of a state that no verified version had, None if one had it.

    None, too, if no attempt of another run had brought it: then it is what stood before. `running`
    has the digests of the workloads of `list_suspects`, as far as they could be read.
    """
    found = _find_unverified(state, own, others, running)
    if found is None or found.needs:
        return found
    digest = applied_digest(state)
    for one in others:
        if one.record is not None and one.record.is_to_leave(state.ref, digest):
            return BroughtState(one.lock, needs=True)
    return found


def _find_unverified(
    state: LiveObject,
    own: Collection[LockMemory],
    others: Collection[LockMemory],
    running: Mapping[Ref, str],
) -> BroughtState | None:
    ref, digest = state.ref, applied_digest(state)
    if not digest or _is_verified(ref, digest, (*own, *others)):
        return None
    for one in others:
        if one.record is not None and _is_brought_by(one.record, ref, digest):
            if not _goes_back(one.record):
                return BroughtState(one.lock, needs=True)
            return _with_instead(one, state, _find_way_back(one.record, ref), own)
    for one in others:
        if _has_brought(one, ref, digest):
            body = _find_body(one, ref, running, (*own, *others))
            return _with_instead(one, state, body, own)
    return None


def _is_verified(ref: Ref, digest: str, every: Collection[LockMemory]) -> bool:
    return any(one.history.of_member(ref, digest) is not None for one in every)


def _with_instead(
    other: LockMemory, state: LiveObject, body: Body | None, own: Collection[LockMemory]
) -> BroughtState:
    if body is None:
        return BroughtState(other.lock)
    ref, digest = state.ref, body_digest(state.ref.kind, state.uid, body)
    is_verified = any(
        one.members.get(ref) == digest for each in own for one in each.history.unrevoked
    )
    return BroughtState(other.lock, instead=body, is_verified=is_verified)


def _is_brought_by(record: Record, ref: Ref, digest: str) -> bool:
    """Tell whether an unfinished attempt changes an object to a digest, or may, as of a Secret."""
    for one in record.objects:
        if one.ref == ref and one.changes:
            expected = one.expected
            return not isinstance(expected, LiveObject) or applied_digest(expected) == digest
    return False


def _goes_back(record: Record) -> bool:
    is_return = record.policy.response.on_failure is OnFailure.ROLLBACK
    return record.leg is Leg.BACK and is_return


def _find_way_back(record: Record, ref: Ref) -> Body | None:
    """Return what an attempt that goes back returns an object to, None if its record has none."""
    if (member := record.target_set.members.get(ref)) is not None:
        return member
    before = next((one.before for one in record.objects if one.ref == ref), None)
    return applied_body(before.value) if isinstance(before, Known) else None


def _has_brought(other: LockMemory, ref: Ref, digest: str) -> bool:
    """Tell whether an attempt that ended, and was not verified, had written an object so."""
    history = other.history
    return bool(digest) and any(
        not one.verified and history.written_of(one).get(ref) == digest for one in history.versions
    )


def _find_body(
    other: LockMemory, ref: Ref, running: Mapping[Ref, str], every: Collection[LockMemory]
) -> Body | None:
    """Return an object as it was verified with what a workload runs again, None if not known.

    One that still runs what failed, as after `--on-failure keep`, may need what it was left with.
    """
    workload = _workload_of(other)
    runs = running.get(workload) if workload is not None else None
    if workload is None or not runs:
        return None
    versions = [one for one in other.history.unrevoked if one.members.get(workload) == runs]
    if not versions:
        return None
    of_workload = (digest for one in versions if (digest := one.members.get(ref)))
    digest = next(of_workload, "") or _newest_digest(ref, every)
    return next(_iter_bodies(digest, every), None)


def _newest_digest(ref: Ref, every: Collection[LockMemory]) -> str:
    """Return how an object was verified last, "" if that is not known."""
    versions = [one for each in every for one in each.history.unrevoked if one.members.get(ref)]
    newest = max(versions, key=lambda one: one.judged_at, default=None)
    return newest.members[ref] if newest is not None else ""


def _iter_bodies(digest: str, every: Collection[LockMemory]) -> Iterator[Body]:
    for one in every:
        remembered = one.history.bodies.get(digest)
        body = with_values(remembered, None) if remembered is not None else None
        if body is not None:
            yield body


def _workload_of(memory: LockMemory) -> Ref | None:
    """Return the workload of a lock, None if no version names it."""
    members = (ref for one in memory.history.versions for ref in one.members)
    return next((ref for ref in members if is_workload(ref) and lock_of(ref) == memory.lock), None)
