"""The command `recover`: finds what dead gates left in a namespace, and finishes it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from functools import partial
from itertools import chain
from typing import Final

from gate import signals
from gate.app.command_context import CommandContext, connect
from gate.app.commands.locks import read_locks
from gate.app.execution.recovery import ENDS_ALL, Recovery, UnusableRecord
from gate.app.locks.acquisition import Locked, record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.keeper import Keeper
from gate.app.locks.unfinished_attempt import find_locks
from gate.app.preflight import first_questions
from gate.app.preflight.guards import refuse_protected
from gate.app.runtime.command_end import Passed, run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.live_state import read_object
from gate.app.runtime.session import Session, connect_learning_secrets
from gate.app.runtime.workload_names import argument_of, workload_ref
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.kinds.registry import has_way_back
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import Holder, is_proven_dead
from gate.core.model.objects import Ref
from gate.core.model.outcome import worst
from gate.core.ssa.applied_fields import applied_body
from gate.errors import GateError, RefusedError, UsageError
from gate.kube.answers.failures import Forbidden
from gate.kube.locks.lease import Held, Leases
from gate.sources.source import Sources

AS_BEFORE: Final = Passed("what was unfinished is as it was before: nothing is left to do")
NOTHING_LEFT: Final = Passed("no record of an unfinished attempt was found")
"""A lock that was deleted has taken its record with it."""


def recover(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Finish what killed gates left."""
    return run_attempt(world, "recover", settings, partial(run_recover, names=names))


def run_recover(start: CommandStart, names: tuple[str, ...]) -> Attempt | Passed:
    """Finish attempts: on named workloads, in the namespace, or in all namespaces.

    RefusedError for a name with neither a lock nor a workload.
    """
    settings = start.settings
    with start.ends_at_signal():
        # Connect and guard: the right cluster, and a namespace that may be written to.
        context = connect(start)
        if settings.all_namespaces and names:
            raise UsageError(
                "a NAME and --all-namespaces exclude each other: give the namespace of NAME with -n"
            )
        first_questions.announce(context, everywhere=settings.all_namespaces)
        here = [] if settings.all_namespaces else [context.session.namespace]
        first_questions.check_cluster(context, here)

        # Read the locks, to see what is left.
        left = _read_leftovers(context, names)
        if left.is_nothing:
            return NOTHING_LEFT
        refuse_protected(sorted(left.namespaces), settings.protected_namespace)

    # Lock and recover, one attempt after the other.
    return _finish_all(Recovery(context, budgets=True), left)


def _read_leftovers(context: CommandContext, names: tuple[str, ...]) -> _Left:
    session = context.session
    leases = Leases(lock_client(session))
    if names:
        seen, deleted = _read_locks(context, leases, names)
    else:
        seen, deleted = list(read_locks(session, context.settings, "recover")), ()
    return replace(_find_leftovers(context.world, leases, seen), deleted=deleted)


# -- what is left ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Left:
    """Locks with open records, and locks still held by gates that died without leaving a record.

    `errors` are for locks where neither is known: a record may be in a Lease that we may not read.
    `deleted` are named locks whose Lease is gone: an attempt that held them may have its record in
    another one.
    """

    places: Mapping[Lock, Held]
    abandoned: tuple[Lock, ...]
    errors: tuple[RefusedError, ...]
    deleted: tuple[Lock, ...] = ()

    def locks_at(self, place: Lock) -> list[Lock]:
        """Return the locks to take for the record in `place`: it and the attempt's deleted ones."""
        of_attempt = self.places[place].holder.locks
        return [place, *(lock for lock in self.deleted if lock in of_attempt)]

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to finish or to give back, as far as all could be read."""
        return not (self.places or self.abandoned or self.errors)

    @property
    def namespaces(self) -> set[str]:
        """Return the namespaces of all locks to be taken."""
        siblings = (lock for place in self.places.values() for lock in place.holder.locks)
        return {lock.namespace for lock in (*self.places, *siblings, *self.abandoned)}


def _read_locks(
    context: CommandContext, leases: Leases, names: Iterable[str]
) -> tuple[list[Held], tuple[Lock, ...]]:
    """Read the locks of some workloads; a workload without a Lease must at least exist.

    For a Job the locks are those of the attempts whose records name it. If a workload's Lease was
    deleted, an attempt that held it may have its record in another one: such Leases are returned
    too, and with them the locks that have no Lease. Warns of a workload of ours where no record of
    one tells how that went. RefusedError if the other Leases may not be listed.
    """
    session = context.session
    refs = [workload_ref(session.namespace, name) for name in names]
    found = {ref: find_locks(leases, ref) for ref in refs}
    missing = {ref: read_object(session, ref) for ref, locks in found.items() if not locks}
    gone = tuple(lock_of(ref) for ref in missing if has_way_back(ref))
    others = _list_leases(session, leases, gone) if gone else ()
    naming = [one for one in others if one.record and not {*gone}.isdisjoint(one.holder.locks)]
    named = {lock for one in naming for lock in one.holder.locks}
    for ref, live in missing.items():
        if lock_of(ref) in {*gone} - named and applied_body(live) is not None:
            context.console.warn(_describe_unknown(context, ref))
    seen = {held.lock: held for held in (*chain.from_iterable(found.values()), *naming)}
    return list(seen.values()), gone


def _describe_unknown(context: CommandContext, ref: Ref) -> str:
    """Say that nothing tells how the attempt of a workload without a Lease ended."""
    cluster = context.session.connection.cluster
    look = cluster.command("rollout-gate", "status", argument_of(ref), namespace=ref.namespace)
    return (
        f"{ref} was applied by rollout-gate and has no lock: somebody deleted that, or the run took"
        f" none (--no-lock). Whether its attempt ended is not known; to see what runs: {look}"
    )


def _list_leases(session: Session, leases: Leases, gone: tuple[Lock, ...]) -> tuple[Held, ...]:
    """List the Leases of the namespace; RefusedError that says why they are needed."""
    try:
        return leases.all(session.namespace)
    except Forbidden as error:
        named = ", ".join(map(str, gone))
        namespace = session.namespace
        raise RefusedError(
            f"{named} has no Lease: whether an attempt left anything stands in another one, and"
            f" this user may not list leases.coordination.k8s.io in namespace {namespace}",
            reason=error.reason,
            hint="name the workloads that were applied with it, or get that right",
        ) from error


def _find_leftovers(world: World, leases: Leases, seen: Iterable[Held]) -> _Left:
    """Return what is left for the locks that were read; a record may be in another lock."""
    by_lock = {held.lock: held for held in seen}
    read = functools.cache(lambda lock: by_lock.get(lock) or leases.read(lock))
    places: dict[Lock, Held] = {}
    errors: dict[Lock, RefusedError] = {}
    for held in by_lock.values():
        try:
            places |= {place.lock: place for place in record_places(read, held)}
        except Forbidden as error:
            errors[held.lock] = error
    recorded = {lock for place in places.values() for lock in (place.lock, *place.holder.locks)}
    me = Holder("", process=world.processes.this())
    abandoned = tuple(
        held.lock
        for held in by_lock.values()
        if not (held.is_free or held.lock in recorded or held.lock in errors)
        and is_proven_dead(held.holder, me, world.processes.has_ended)
    )
    return _Left(places, abandoned, tuple(errors.values()))


# -- finishing -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Ends:
    """How finished attempts ended, why others could not be finished, and whose records were tried.

    `are_many` says whether there is more than one thing to do.
    """

    are_many: bool
    attempts: list[Attempt] = field(default_factory=list)
    errors: list[GateError] = field(default_factory=list)
    records: set[Lock] = field(default_factory=set)

    @property
    def is_cut_off(self) -> bool:
        """Whether the last ending forbids starting anything else."""
        return bool(self.attempts) and self.attempts[-1].outcome in ENDS_ALL

    def worst(self) -> Attempt | GateError | None:
        """Return the end that counts, None if there was nothing to finish."""
        if self.is_cut_off:
            return self.attempts[-1]
        ends: list[Attempt | GateError] = [*self.errors, *self.attempts]
        outcome = worst(end.outcome for end in ends)
        return next((end for end in ends if end.outcome is outcome), None)


def _finish_all(recovery: Recovery, left: _Left) -> Attempt | Passed:
    """Finish one after another, even if others fail; the worst end counts."""
    ends = _Ends(len(left.places) + len(left.abandoned) + len(left.errors) > 1)
    for error in left.errors:
        _tell_error(recovery, ends, error)
    try:
        for lock in left.abandoned:
            _give_back(recovery, lock, ends)
        for place in left.places:
            if place not in ends.records and not ends.is_cut_off:
                _finish(recovery, left.locks_at(place), ends)
    except signals.Signalled as signalled:
        signalled.after_recovery = bool(ends.attempts)
        raise
    if ends.errors or len(ends.attempts) > 1:
        _tell_ends(recovery, ends.attempts)
    counts = ends.worst()
    if isinstance(counts, GateError):
        counts.after_recovery = bool(ends.attempts)
        raise counts
    if counts is not None:
        return counts
    return AS_BEFORE if ends.records else NOTHING_LEFT


def _finish(recovery: Recovery, locks: list[Lock], ends: _Ends) -> None:
    """Take an attempt's locks as soon as its gate is gone, and finish what is open there."""
    try:
        with ExitStack() as stack:
            _finish_under(recovery, _take_locks(recovery.context, stack, locks), ends)
    except RefusedError as error:
        _tell_error(recovery, ends, error)


def _finish_under(recovery: Recovery, keeper: Keeper | None, ends: _Ends) -> None:
    """Finish the attempts whose records are in our locks, each even if others fail."""
    if keeper is None:
        return
    for place in keeper.open_records:
        if ends.is_cut_off:
            return
        ends.records.add(place)
        try:
            ended = recovery.finish(keeper, place)
        except (RefusedError, UnusableRecord) as error:
            _tell_error(recovery, ends, error)
        else:
            ends.attempts += [ended] if ended is not None else []


def _give_back(recovery: Recovery, lock: Lock, ends: _Ends) -> None:
    """Release a lock that a dead gate left without a record, unless somebody took it since.

    Whether that gate wrote anything is unknown: somebody may have deleted its record since. A
    record that appeared in the meantime is finished.
    """
    context = recovery.context
    settings = context.settings.with_values(lock_wait=0.0)
    try:
        with suppress(Locked), ExitStack() as stack:
            keeper = _take_locks(replace(context, settings=settings), stack, [lock])
            if keeper is None or not keeper.open_records:
                note = f"{lock}: its gate died, and no record was found; its lock is released"
                recovery.context.console.note("recover", note)
            _finish_under(recovery, keeper, ends)
    except RefusedError as error:
        _tell_error(recovery, ends, error)


def _tell_error(recovery: Recovery, ends: _Ends, error: GateError) -> None:
    """Report at once what cannot be finished: the others may take minutes."""
    if ends.are_many:
        recovery.context.console.warn(error.message)
    ends.errors.append(error)


def _tell_ends(recovery: Recovery, ended: Iterable[Attempt]) -> None:
    everywhere = recovery.context.settings.all_namespaces
    for attempt in ended:
        said = f"{_written_by(attempt, everywhere=everywhere)}: {attempt.outcome.value}"
        recovery.context.console.note_recovery(said, attempt)


def _written_by(attempt: Attempt, *, everywhere: bool) -> str:
    """Name an attempt's workloads, else its first object and the number of the others."""
    followed = [target.ref for target in attempt.plan.targets]
    objects = followed or [planned.ref for planned in attempt.plan.objects]
    named = followed or objects[:1]
    names = ", ".join(f"{ref} in {ref.namespace}" if everywhere else str(ref) for ref in named)
    more = len(objects) - len(named)
    return f"{names} and {more} more" if more else names


def _take_locks(context: CommandContext, stack: ExitStack, locks: list[Lock]) -> Keeper | None:
    """Take locks in a session of their own, until the stack is closed."""
    world, settings = context.world, context.settings
    session = stack.enter_context(connect_learning_secrets(world, settings, Sources({})))
    with context.ends_at_signal():
        return replace(context, session=session).with_locks(locks, recovers=True).keeper
