"""`undo`: returns to an earlier version, with the configuration that it was verified with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from gate.app.command_context import CommandContext, connect
from gate.app.commands.dry_run import NOTHING_WRITTEN, end_dry_run
from gate.app.commands.single_workload import guard_workload
from gate.app.commands.undo_plan import plan_undo
from gate.app.commands.undo_recovery import find_undo
from gate.app.commands.undo_revision import named_revision
from gate.app.commands.undo_subject import deployments_of
from gate.app.execution.left_runs import name_left_runs
from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.app.execution.run import run
from gate.app.locks.memory import MemoryWithout
from gate.app.locks.unfinished_attempt import read_lock_facts
from gate.app.preflight.gone_namespaces import describe_gone, find_gone_namespaces
from gate.app.preflight.guards import refuse_single_run
from gate.app.preflight.replicas import scaler_permissions
from gate.app.runtime.command_end import Passed, run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.live_state import read_facts
from gate.app.runtime.workload_names import workload_ref
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Unknown
from gate.core.model.live_object import LiveFacts
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.ssa.applied_fields import digests_of
from gate.core.versions.history import History
from gate.errors import RefusedError

_OF_RUNS: Final = (
    "what it did stays; to return the workloads that were applied with it, undo one of those"
)


def undo(world: World, settings: Settings, name: str) -> int:
    """Return a workload to an earlier version and follow it."""
    return run_attempt(world, "undo", settings, partial(run_undo, name=name))


def run_undo(start: CommandStart, name: str) -> Attempt | Passed:
    """Go through the phases of an undo; they are those of an apply.

    If a gate died over an apply or a restart, its recovery is the undo: what it takes back is what
    whoever undoes means.
    """
    refuse_single_run(name, "cannot be undone", _OF_RUNS)
    with start.ends_at_signal():
        # Connect and guard. The revision is named by its number as the command begins.
        context = connect(start)
        ref = workload_ref(context.session.namespace, name)
        live = guard_workload(context, name, scaler_permissions([ref]))
        ask = partial(read_lock_facts, context.session, live.object.ref, start.world.processes)
        named = named_revision(start.settings, live, lambda: ask().recovery)
        dry_run = start.settings.dry_run
        if dry_run:
            _refuse_unfinished(live.object.ref, ask().recovery)
        looked = context.with_memory_of([live.object.ref])
        history = looked.memory.history(live.object.ref)
        gone = _find_gone(context, live.object.ref, history)
        members = members_of_sets(live.object.ref, history.without_namespaces(gone))
        if dry_run:
            ready = plan_undo(_without(looked.with_memory_of(members), gone), name, named)
            return end_dry_run(ready.plan, NOTHING_WRITTEN)

        # Lock the workload, and all those that it may return together with.
        context = _without(context.with_locks(map(lock_of, members)), gone)

    # Recover: finish what a gate that died under these locks left; take back what is to be undone.
    undone = ("restart",) if named is None else ()
    ends = finish_open_records(Recovery(context, undone=undone))
    name_left_runs(context, ends)
    ended = cut_off(ends) or (find_undo(context, ends, live.object.ref) if named is None else None)
    if ended is not None:
        return ended

    with start.ends_at_signal():
        # Plan: everything else that can refuse it, up to the dry run of the way back.
        ready = plan_undo(context.with_lock_lane(), name, named)

    # Run: record the plan, write, follow, judge, and go back if it fails.
    return run(ready)


def _refuse_unfinished(ref: Ref, recovery: str) -> None:
    """Refuse a dry run if an undo would first finish what a dead gate left; that may be all."""
    if recovery:
        raise RefusedError(
            f"an attempt on {ref} is unfinished: an undo would finish that first, and what it does"
            " then depends on how that ends",
            reason=Reason.LOCKED,
            hint=recovery,
        )


def members_of_sets(ref: Ref, history: History) -> set[Ref]:
    """Return all workloads that an undo of one may write, given its history."""
    return {ref, *deployments_of(history)}


def _find_gone(context: CommandContext, ref: Ref, history: History) -> frozenset[str]:
    """Return the deleted namespaces of what the workload was verified with; warn of them."""
    members = {one for version in history.once_verified for one in version.members}
    elsewhere = {one for one in members if one.namespace not in ("", ref.namespace)}
    lived_at = _seen_last(history, read_facts(context.session, sorted(elsewhere)))
    namespaces = {one.namespace for one in elsewhere}
    gone = find_gone_namespaces(context.session, namespaces, lived_at)
    if gone:
        context.console.warn(f"{describe_gone(gone, members)}; an undo does not bring that back")
    return gone


def _seen_last(history: History, facts: LiveFacts) -> dict[str, str]:
    """Return when something in each namespace was verified last, if nothing in it is as then.

    What is as it was shows, whatever the clock said by which that was noted, that the namespace has
    not gone. So does what could not be read, for all that is known.
    """
    digests, unread = (
        digests_of(facts),
        {ref for ref, one in facts.items() if isinstance(one, Unknown)},
    )
    found: dict[str, str] = {}
    stand: set[str] = set()
    for version in reversed(history.once_verified):
        for ref, digest in version.members.items():
            found[ref.namespace] = version.judged_at
            if ref in unread or (digest and digests.get(ref) == digest):
                stand.add(ref.namespace)
    return {name: at for name, at in found.items() if name not in stand}


def _without(context: CommandContext, namespaces: frozenset[str]) -> CommandContext:
    """Return the context with a memory that has nothing in some namespaces."""
    if not namespaces:
        return context
    return replace(context, memory=MemoryWithout(context.memory, namespaces))
