"""`pause`: pauses a Deployment or suspends a Job; afterwards there is nothing to follow."""

from __future__ import annotations

from functools import partial
from typing import Final

from gate.app.command_context import CommandContext, connect
from gate.app.commands.single_workload import guard_namespace, read_guarded_alone
from gate.app.execution.concurrent_run import warn_of_run
from gate.app.execution.run import Ready, run
from gate.app.preflight.guards import refuse_to_pause_ended, require_pause
from gate.app.runtime.command_end import run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.world import World
from gate.config import Settings, policy
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite

_ENDS_PODS: Final = (
    "its pods end while it is suspended: what they are at is cut off, and begins again after that"
)


def pause(world: World, settings: Settings, name: str) -> int:
    """Pause a workload."""
    return run_attempt(world, "pause", settings, partial(run_pause, name=name))


def run_pause(start: CommandStart, name: str) -> Attempt:
    """Go through the phases of a pause: those of an apply, without its locks and its recovery.

    A pause must be possible while a run holds the lock: that run is warned of, and not waited for.
    """
    with start.ends_at_signal():
        # Connect and guard: the right cluster, and a workload that may be changed.
        context = connect(start)
        guard_namespace(context)
        read_guarded_alone(context, name)
        warn_of_run(context.session, name, start.world.processes, context.console.warn)

        # Plan: as the workload is right before the write.
        ready = plan_pause(context, name)

    # Run: write, and follow nothing.
    return run(ready)


def plan_pause(context: CommandContext, name: str) -> Ready:
    """Prepare to pause a workload."""
    live = read_guarded_alone(context, name)
    refuse_to_pause_ended(live, context.session.connection.cluster)
    if not has_way_back(live.ref):
        context.console.warn(f"{live.ref}: {_ENDS_PODS}")
    write = PlannedWrite(live.ref, Verb.MERGE, require_pause(live.ref), over_any_change=True)
    planned = PlannedObject(live.ref, Known(live))
    return Ready(context, Plan("pause", (), (planned,), (write,), policy(context.settings)))
