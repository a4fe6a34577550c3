"""Finishes what a killed gate left: for `recover`, and before any other attempt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Final

from gate.app.command_context import CommandContext
from gate.app.execution.recovery_words import CLOSED, describe_way
from gate.app.execution.restoration_trials import find_returned
from gate.app.execution.run import Ready, run
from gate.app.locks.keeper import Keeper
from gate.app.locks.lock_state import may_run_without_lock, what_is_known_of
from gate.app.locks.unfinished_attempt import name_followed, recovery_command
from gate.app.preflight import first_questions
from gate.app.preflight.gone_namespaces import describe_gone, find_gone_namespaces
from gate.app.preflight.guards import refuse_protected_objects
from gate.app.runtime.live_state import selector_of
from gate.app.runtime.session import Session, connect_learning_secrets
from gate.app.runtime.watches import Watching
from gate.core.attempt.left_open import is_left_open
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.kinds.registry import kind_of, unseen
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveFacts
from gate.core.model.lock import Lock
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import Plan
from gate.core.plan.record import Record
from gate.core.plan.workload_body import is_resumption
from gate.core.recovery.gone_namespaces import find_oldest, without_namespaces
from gate.core.recovery.replaced_objects import find_not_replaced
from gate.core.recovery.resumption import resume
from gate.core.recovery.rewritten_version import close_if_rewritten
from gate.core.rollout.snapshot import Snapshot
from gate.errors import GateError, RefusedError
from gate.kube.reads.quorum_reads import Reader
from gate.kube.rights.access import list_needed
from gate.manifests.allowed import require_allowed
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import ManifestError, Source
from gate.side_by_side import each
from gate.sources.source import Sources
from gate.wire.decode import DecodeError

ENDS_ALL: Final = (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
"""If a recovery ends like this, no other is started."""


class UnusableRecord(GateError):
    """A record that cannot be continued from: it needs a person. Exit 5."""

    outcome = Outcome.ROLLBACK_FAILED


class DisallowedRecord(UnusableRecord):
    """A record with kinds that this run may not write. Another run may, so it has to stay."""


_OF_ANOTHER: Final = (
    "that is of an earlier attempt, which this run was to finish first; it began nothing else"
)
_AS_BEFORE: Final = "all that it was to change is as it was before"
"""For an attempt with nothing to finish; it may have rolled back without recording that."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Finishes attempts.

    `budgets` says whether the settings' timeouts replace the record's. An attempt of a command in
    `undone` is taken back, whether or not its writes are complete. `rewrites` are the workloads
    that the run writes next: a first version of theirs is not awaited (`close_if_rewritten`).
    """

    context: CommandContext
    budgets: bool = False
    undone: tuple[str, ...] = ()
    rewrites: Collection[Ref] = ()

    def finish(self, keeper: Keeper, lock: Lock) -> Attempt | None:
        """Finish the attempt whose record is in one of our locks; None if nothing is left to do.

        The locks are still held afterwards. It has a session of its own, so that its answers reach
        no other attempt.
        """
        world, settings = self.context.world, self.context.settings
        nothing_to_ask = Sources({})
        with ExitStack() as stack:
            session = stack.enter_context(connect_learning_secrets(world, settings, nothing_to_ask))
            with self.context.ends_at_signal():
                ready = self._plan_rest(session, keeper, lock)
            if ready is None:
                keeper.forget(lock)
                return None
            return run(ready)

    def _plan_rest(self, session: Session, keeper: Keeper, lock: Lock) -> Ready | None:
        """Read how far it got, and plan the rest; writes nothing."""
        record = self._record(session, keeper, lock)
        refs = [one.ref for one in record.objects]
        refuse_protected_objects(_list_refs(record), self.context.settings.protected_namespace)
        removes = record.policy.response.blocked_pods
        needs = list_needed(session.resources, refs, creates=(), removes=removes)
        first_questions.check_access(session, "recover", needs)
        reader = Reader(session.client, session.resources, session.clock)
        found = dict(zip(refs, each(session.clock, reader.live, refs), strict=True))
        watching = watch_followed(session, record, found)
        watching.settle(self.context.settings.connect_timeout)
        snapshots = snapshots_of(record, watching)
        undoes = record.command in self.undone
        go_on = partial(resume, record, found, snapshots, session.clock.now(), takes_back=undoes)
        plan = go_on()
        if plan is not None and (returned := find_returned(session, plan, found)):
            plan = go_on(returned=returned)
        if plan is None:
            self.context.console.note("recover", f"{lock}: {_describe_nothing_left(record)}")
            return None
        for ref in find_not_replaced(plan.resumed, found) if plan.resumed is not None else ():
            why = (
                "the failed one was deleted so that it could run again, and no new one was created"
            )
            self.context.console.warn(f"{ref}: {why}: the next apply runs it")
        plan = self._with_its_gate(plan, keeper.holders_before.get(lock), lock)
        closed = close_if_rewritten(plan, self.rewrites, session.clock.now())
        page = record.origin.run_url
        run, _, number = record.attempt_id.rpartition(" ")
        by = f"attempt {number} of {run}" if run else f"attempt {number}"
        by = f"{by} ({page})" if page else by
        named = name_followed((one.ref for one in record.followed), lock)
        past = "" if self.budgets else recovery_command(session.connection.cluster, lock)
        way = CLOSED if closed else describe_way(plan, past, session.clock.now())
        verb = "closing" if closed else "finishing"
        self.context.console.note("recover", f"{verb} what {by} left of {named}: {way}")
        lane = keeper.lane(session.inbox, lock, stays=True)
        context = replace(self.context, session=session, keeper=keeper, lock_lane=lane, tape=None)
        return Ready(context, closed or plan, watching)

    def _with_its_gate(self, plan: Plan, holder: Holder | None, lock: Lock) -> Plan:
        """Note in the plan if the attempt's gate, whose lock was released, may still run."""
        processes = self.context.world.processes
        if holder is None or plan.resumed is None or not may_run_without_lock(holder, processes):
            return plan
        known = what_is_known_of(holder, processes)
        self.context.console.warn(
            f"the lock of {lock} was released from {holder.held_last_by}, {known}: if it"
            " lives, it stops once it sees that this run took it"
        )
        return replace(plan, resumed=replace(plan.resumed, may_still_run=True))

    def _record(self, session: Session, keeper: Keeper, lock: Lock) -> Record:
        record = self._read_allowed_record(session, keeper, lock)
        if not self.budgets:
            return record
        given = self.context.settings
        recorded = record.policy.budgets
        budgets = replace(
            recorded,
            timeout_seconds=given.timeout or recorded.timeout_seconds,
            rollback_timeout_seconds=given.rollback_timeout or recorded.rollback_timeout_seconds,
        )
        return replace(record, policy=replace(record.policy, budgets=budgets))

    def _learn(self, record: Record) -> None:
        """Learn the values of the Secrets kept beside a record."""
        for one in record.objects:
            if one.ref.kind == "Secret" and isinstance(one.before, Known):
                self.context.world.secrets.add_secret(one.before.value.body.thaw())

    def _read_allowed_record(self, session: Session, keeper: Keeper, lock: Lock) -> Record:
        """Return the record; UnusableRecord if it cannot be read or names more than it may.

        It may name kinds that a manifest may hold, in namespaces where its attempt held locks:
        whoever may write a Lease in one namespace must not be able to write to another through it.
        What was in a namespace that was deleted is left out.
        """
        try:
            record = keeper.record(lock)
            self._learn(record)
            refs = _list_refs(record)
            require_allowed(_as_manifest(lock, refs), self.context.settings.allow_kind)
        except DecodeError as error:
            raise UnusableRecord(
                f"the record of {lock} cannot be read: {error}",
                reason=Reason.NO_BASELINE,
                hint="was it written by another version of rollout-gate? recover with that one",
            ) from error
        except ManifestError as error:
            raise DisallowedRecord(error.message, reason=Reason.USAGE, hint=error.hint) from error
        elsewhere = {ref.namespace for ref in refs} - {lock.namespace}
        gone = find_gone_namespaces(session, elsewhere, find_oldest(record))
        if gone:
            said = describe_gone(gone, refs)
            self.context.console.warn(f"{said}; what the attempt left elsewhere is finished")
            record = without_namespaces(record, gone)
        _require_locked(lock, _list_refs(record), keeper.namespaces_of(lock))
        return record


def _describe_nothing_left(record: Record) -> str:
    """Say that nothing is left to do; the pods of what was resumed may have moved all the same."""
    resumed = (one.ref for one in record.objects if is_resumption(one.expected, one.ref))
    word = next((kind_of(ref).pause_word for ref in resumed), "")
    return f"it is {word}, as before; what its pods did meanwhile stays" if word else _AS_BEFORE


def _list_refs(record: Record) -> list[Ref]:
    """Return every object that may be written for a record, from all parts of it."""
    objects = {one.ref for one in record.objects} | {one.ref for one in record.followed}
    return sorted(objects | set(record.target_set.bodies))


def _require_locked(lock: Lock, refs: Iterable[Ref], namespaces: Collection[str]) -> None:
    """Raise UnusableRecord for objects elsewhere; cluster-scoped ones need `--allow-kind`."""
    outside = sorted(ref for ref in refs if ref.namespace and ref.namespace not in namespaces)
    if outside:
        named = ", ".join(f"{ref} in {ref.namespace}" for ref in outside)
        raise UnusableRecord(
            f"the record of {lock} names objects in namespaces where no Lease says that its attempt"
            f" held a lock: {named}",
            reason=Reason.NO_BASELINE,
            hint="if its Leases there were deleted, apply what should run in all of them; else ask"
            " who wrote the record",
        )


def _as_manifest(lock: Lock, refs: Iterable[Ref]) -> Manifest:
    """Return the objects as a manifest, to check their kinds."""
    source = Source(f"the record of {lock}")
    return Manifest(
        tuple(
            ManifestObject(ref.api_version, ref.kind, ref.namespace, ref.name, {}, source)
            for ref in refs
        )
    )


def watch_followed(session: Session, record: Record, found: LiveFacts) -> Watching:
    """Watch the workloads of a record that exist."""
    lives = {one.ref: found[one.ref] for one in record.followed}
    selectors = {
        ref: selector_of(fact.value) for ref, fact in lives.items() if isinstance(fact, Known)
    }
    watching = Watching(session, selectors)
    watching.start()
    return watching


def snapshots_of(record: Record, watching: Watching) -> dict[Ref, Snapshot]:
    """Return what was seen of each workload of a record, of one that is gone as well."""
    gone = Absent()
    return {
        one.ref: watching.snapshot(one.ref)
        if one.ref in watching.selectors
        else replace(unseen(one.ref), workload=gone)
        for one in record.followed
    }


# -- before another attempt ------------------------------------------------------------------------


def finish_open_records(recovery: Recovery) -> tuple[Attempt, ...]:
    """Finish what other gates left open under our locks; return how it ended, in order.

    How it ended is reported, and decides nothing about the attempt that follows, unless `cut_off`
    says so. A record that needs a person is a warning. RefusedError for one that may not be
    finished without `--allow-kind`, since this run's own record would replace it.
    """
    context, ends = recovery.context, list[Attempt]()
    keeper = context.keeper
    if keeper is None:
        return ()
    for lock in keeper.open_records:
        try:
            ended = recovery.finish(keeper, lock)
        except DisallowedRecord as error:
            said = f"{error.message}; nothing else is written before that attempt is finished"
            command = recovery_command(context.session.connection.cluster, lock)
            hint = f"finish it first: {command}; {error.hint}"
            refusal = RefusedError(said, reason=error.reason, hint=hint)
            refusal.after_recovery = bool(ends)
            raise refusal from error
        except UnusableRecord as error:
            context.console.warn(f"{error.message}; this run goes on without finishing that")
            continue
        if ended is None:
            continue
        ends.append(ended)
        if ended.outcome in ENDS_ALL:
            break
        if is_left_open(ended):
            continue
        context.console.note_recovery(_describe_ending(lock, ended), ended)
    return tuple(ends)


def cut_off(ends: Sequence[Attempt]) -> Attempt | None:
    """Return the end after which the command's own attempt is not started, None if there is none.

    Where an end left its record open, the next attempt's would replace that, and nobody would
    finish what failed. The message says that it is not the end of what the command was to do.
    """
    ended = next((one for one in ends if one.outcome in ENDS_ALL or is_left_open(one)), None)
    if ended is None or ended.result.ending is None:
        return ended
    whole = ended.result.ending
    whole = replace(whole, message=CleanText(f"{whole.message}; {_OF_ANOTHER}"))
    return replace(ended, result=replace(ended.result, ending=whole))


def _describe_ending(lock: Lock, ended: Attempt) -> str:
    ending = ended.result.ending
    message = f": {ending.reason}: {ending.message}" if ending is not None else ""
    named = name_followed((target.ref for target in ended.plan.targets), lock)
    return f"{named}: {ended.outcome.value}{message}"
