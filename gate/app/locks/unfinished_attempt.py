"""What a workload's locks show: its history, who holds them, and what is left to finish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime

from gate.app.locks.acquisition import record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.lock_state import LockState, state_of
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of, workload_ref
from gate.cluster_name import ClusterName
from gate.core.checks.spec import OnInconclusive
from gate.core.frozen import dataclass
from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Known
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Record
from gate.core.rollout.policy import OnFailure
from gate.core.versions.history import History
from gate.kube.answers.failures import ApiError, Forbidden
from gate.kube.kinds.registry import find_by_word
from gate.kube.locks.lease import Held, Leases
from gate.processes import Processes
from gate.report.views.history import age
from gate.report.words.object_names import some_names
from gate.wire.decode import DecodeError
from gate.wire.history import read_history
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


@dataclass(frozen=True, slots=True)
class LockFacts:
    """What the locks of a workload tell.

    `unfinished` is None if nothing was left open, or if the lock with the record is held. `at_work`
    says who has the lock, and `unread` why what they tell is not known; "" for nothing. `record` is
    that of the attempt that is at work or unfinished, None if there is none or it is unreadable.
    """

    history: History = field(default_factory=History)
    unfinished: Unfinished | None = None
    at_work: str = ""
    unread: str = ""
    record: Record | None = None

    @property
    def recovery(self) -> str:
        """How to finish what was left open, "" for nothing."""
        return "" if self.unfinished is None else self.unfinished.recovery

    @property
    def is_clear(self) -> bool:
        """Whether it is known that nothing was left open."""
        return not (self.unread or self.unfinished)


def read_lock_facts(session: Session, ref: Ref, processes: Processes) -> LockFacts:
    """Read what the locks of a workload tell: its own, and others of the same attempt."""
    leases = Leases(lock_client(session))
    try:
        locks = find_locks(leases, ref)
        places = [place for held in locks for place in record_places(leases.read, held)]
        own = next((held for held in locks if held.lock == lock_of(ref)), None)
        history = read_history(own.history) if own is not None else History()
    except (ApiError, DecodeError) as error:
        return LockFacts(unread=_describe_unread(ref, error))
    found = ((describe_unfinished(session, place, processes), place) for place in places)
    said = next(((text, place) for text, place in found if text), None)
    left = Unfinished(said[0], read_open_record(said[1])) if said is not None else None
    at_work = (_describe_holder(held, session.clock.wall(), processes) for held in locks)
    record = next(filter(None, map(read_open_record, places)), None)
    return LockFacts(history, left, next(filter(None, at_work), ""), record=record)


def _describe_unread(ref: Ref, error: ApiError | DecodeError) -> str:
    """Say what is not known, and why: a right that is missing, whichever Lease it was of."""
    why = str(error)
    if isinstance(error, Forbidden) and error.verb:
        why = f"not allowed to {error.verb} {error.resource} in namespace {ref.namespace}"
    return f"locks, verdicts and unfinished attempts of {ref} could not be read: {why}"


def _describe_holder(held: Held, now: datetime, processes: Processes) -> str:
    """Say who has a lock, and since when; "" if nobody is known to."""
    if state_of(held, now, processes) is not LockState.HELD:
        return ""
    return f"rollout-gate has its lock, as {held.holder}, for {age(held.acquired, now)}"


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
    record = read_open_record(place)
    way = describe_finish(record)
    if state is LockState.RELEASED:
        return (
            f"{place.lock} was released from {place.holder.held_last_by}, which may still be at"
            f" work; once it has ended, to finish it{way}: {command}"
        )
    refs = [one.ref for one in record.followed] if record is not None else []
    attempt = "the attempt on " if len(refs) > 1 else ""
    return f"{attempt}{name_followed(refs, place.lock)} is unfinished; to finish it{way}: {command}"


def describe_finish(record: Record | None) -> str:
    """Return which way a recovery would go, to be said beside its command; "" if not known."""
    if record is None:
        return ""
    response, followed = record.policy.response, record.followed
    if record.leg is Leg.BACK:
        pauses = response.on_failure is OnFailure.PAUSE
        return " (it stays, paused)" if pauses else " (back)"
    if record.checks and response.on_inconclusive is OnInconclusive.ROLLBACK:
        return " (back: its checks had still to decide)"
    goes_back = response.on_failure is OnFailure.ROLLBACK and not record.policy.observe
    is_first = followed and not any(isinstance(one.baseline, Known) for one in followed)
    if is_first or not goes_back:
        return " (if all was written, followed until it is complete or fails)"
    return " (back if incomplete)"


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
