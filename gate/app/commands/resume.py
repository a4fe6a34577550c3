"""`resume`: resumes a Deployment or a Job, and follows the rollout that this starts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gate.app.command_context import CommandContext
from gate.app.commands.single_workload import Draft, read_guarded, run_single, watch_target
from gate.app.execution.run import Ready
from gate.app.preflight.guards import refuse_to_resume
from gate.app.preflight.plan import resumption
from gate.app.runtime.command_end import run_attempt
from gate.app.runtime.world import World
from gate.config import Settings, policy
from gate.core.model.fact import Known
from gate.core.plan.plan import Plan, PlannedObject


def resume(world: World, settings: Settings, name: str) -> int:
    """Resume a workload and follow it."""
    return run_attempt(world, "resume", settings, partial(run_single, name=name, plan=plan_resume))


def plan_resume(context: CommandContext, name: str) -> Ready:
    """Prepare to resume a paused workload, and to follow the rollout that this starts."""
    live = read_guarded(context, name)
    refuse_to_resume(live.object.ref)
    planned = PlannedObject(live.object.ref, Known(live.object))
    if not live.workload.paused:
        context.console.note("resume", f"{live.object.ref} is not paused")
        planned = replace(planned, trial=live.object)  # what the write leaves it as
    writes = (resumption(live.object.ref),)
    draft = Plan("resume", (), (planned,), writes, policy(context.settings))
    return watch_target(context, Draft(live, draft))
