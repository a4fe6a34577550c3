"""`resume`: resumes a paused Deployment, and follows the rollout that this starts."""

from __future__ import annotations

from functools import partial

from gate.app.command_context import CommandContext, connect
from gate.app.commands.single_deployment import Draft, guard_deployment, read_guarded, watch_target
from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.app.execution.run import Ready, run
from gate.app.preflight.plan import resumption
from gate.app.runtime.command_end import run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.world import World
from gate.config import Settings, policy
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Known
from gate.core.model.lock import lock_of
from gate.core.plan.plan import Plan, PlannedObject


def resume(world: World, settings: Settings, name: str) -> int:
    """Resume a Deployment and follow it."""
    return run_attempt(world, "resume", settings, partial(run_resume, name=name))


def run_resume(start: CommandStart, name: str) -> Attempt:
    """Go through the phases of a resume; they are those of an apply."""
    with start.ends_at_signal():
        # Connect and guard: the right cluster, and a Deployment that may be changed.
        context = connect(start)
        live = guard_deployment(context, name)

        # Lock the Deployment.
        ref = live.object.ref
        context = context.with_locks([lock_of(ref)])

    # Recover: finish what a gate that died under this lock left.
    ended = cut_off(finish_open_records(Recovery(context)))
    if ended is not None:
        return ended

    with start.ends_at_signal():
        # Plan: everything else that can refuse it, up to the dry run of the way back.
        ready = plan_resume(context.with_lock_lane(), name)

    # Run: record the plan, write, follow, judge, and go back if it fails.
    return run(ready)


def plan_resume(context: CommandContext, name: str) -> Ready:
    """Prepare to resume a paused Deployment, and to follow the rollout that this starts."""
    live = read_guarded(context, name)
    if not live.workload.paused:
        context.console.note("resume", f"{live.object.ref} is not paused")
    planned = PlannedObject(live.object.ref, Known(live.object))
    writes = (resumption(live.object.ref),)
    draft = Plan("resume", (), (planned,), writes, policy(context.settings))
    return watch_target(context, Draft(live, draft))
