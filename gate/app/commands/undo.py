"""`undo`: returns to an earlier version, with the configuration that it was verified with."""

from __future__ import annotations

from functools import partial

from gate.app.command_context import CommandContext, connect
from gate.app.commands.single_workload import guard_workload
from gate.app.commands.undo_plan import plan_undo
from gate.app.commands.undo_recovery import find_undo
from gate.app.commands.undo_revision import named_revision
from gate.app.commands.undo_subject import deployments_of
from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.app.execution.run import run
from gate.app.locks.memory import Memory
from gate.app.locks.unfinished_attempt import recovery_of
from gate.app.runtime.command_end import run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.workload_names import workload_ref
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref


def undo(world: World, settings: Settings, name: str) -> int:
    """Return a Deployment to an earlier version and follow it."""
    return run_attempt(world, "undo", settings, partial(run_undo, name=name))


def run_undo(start: CommandStart, name: str) -> Attempt:
    """Go through the phases of an undo; they are those of an apply.

    If a gate died over an apply or a restart, its recovery is the undo: what it takes back is what
    whoever undoes means.
    """
    with start.ends_at_signal():
        # Connect and guard. The revision is named by its number as the command begins.
        context = connect(start)
        live = guard_workload(context, name)
        recovery = partial(recovery_of, context.session, live.object.ref, start.world.processes)
        named = named_revision(start.settings, live, recovery)

        # Lock the Deployment, and all those that it may return together with.
        context = context.with_locks(_locks(context, live.object.ref))

    # Recover: finish what a gate that died under these locks left; take back what is to be undone.
    undone = ("restart",) if named is None else ()
    ends = finish_open_records(Recovery(context, undone=undone))
    ended = cut_off(ends) or (find_undo(context, ends, live.object.ref) if named is None else None)
    if ended is not None:
        return ended

    with start.ends_at_signal():
        # Plan: everything else that can refuse it, up to the dry run of the way back.
        ready = plan_undo(context.with_lock_lane(), name, named)

    # Run: record the plan, write, follow, judge, and go back if it fails.
    return run(ready)


def _locks(context: CommandContext, ref: Ref) -> list[Lock]:
    memory = context.with_memory_of([ref]).memory
    return locks_of_sets(ref.name, memory, ref.namespace)


def locks_of_sets(name: str, memory: Memory, namespace: str) -> list[Lock]:
    """Return the locks of all Deployments that an undo of `name` may write."""
    ref = workload_ref(namespace, name)
    members = {ref, *deployments_of(memory.history(ref))}
    return [lock_of(member) for member in members]
