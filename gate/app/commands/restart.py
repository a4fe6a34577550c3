"""`restart`: rolls out the same version again, as `kubectl rollout restart` does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from gate.app.command_context import CommandContext
from gate.app.commands.single_workload import Draft, read_guarded, run_single, watch_target
from gate.app.execution.run import Ready
from gate.app.preflight.guards import refuse_paused, refuse_single_run
from gate.app.preflight.trials import NO_DRY_RUN
from gate.app.runtime.command_end import run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Warn
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of
from gate.app.runtime.world import World
from gate.config import Settings, policy
from gate.core.attempt.state import Attempt
from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite
from gate.core.protocol.effects import Write
from gate.core.versions.judged_version import RESTARTED_AT
from gate.errors import RefusedError
from gate.kube.answers.failures import FieldManagerConflict
from gate.kube.writes.writes import Writer

RESTART_MANAGER = "rollout-gate-restart"
"""Not the applies' manager: else the next apply would remove the annotation and roll out again."""


_OF_RUNS: Final = (
    "to run it again, apply it under another name (or with metadata.generateName), or delete it"
    " and apply it again"
)


def restart(world: World, settings: Settings, name: str) -> int:
    """Restart a workload and follow it."""
    return run_attempt(world, "restart", settings, partial(run_restart, name=name))


def run_restart(start: CommandStart, name: str) -> Attempt:
    """Go through the phases of a command about one workload, unless it runs once."""
    refuse_single_run(name, "cannot be restarted", _OF_RUNS)
    return run_single(start, name, plan_restart, makes_version=True)


def plan_restart(context: CommandContext, name: str) -> Ready:
    """Prepare a rollout of the same version, as `kubectl rollout restart` starts one."""
    session, settings = context.session, context.settings
    live = read_guarded(context, name)
    ref = live.object.ref
    hint = f"ask whoever paused it, then resume it: {_resume_command(session, ref)}"
    refuse_paused([live.object], hint=hint)
    at = session.clock.wall().isoformat(timespec="seconds").replace("+00:00", "Z")
    annotated = {"metadata": {"annotations": {RESTARTED_AT: at}}}
    body = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {"template": annotated},
    }
    force, trial = _try_restart(session, live.object, Body.of(body), context.console.warn)
    write = PlannedWrite(ref, Verb.APPLY, Body.of(body), RESTART_MANAGER, force=force)
    planned = PlannedObject(ref, Known(live.object))
    draft = Plan("restart", (), (planned,), (write,), policy(settings))
    return watch_target(context, Draft(live, draft, trial))


def _try_restart(
    session: Session, live: LiveObject, body: Body, warn: Warn
) -> tuple[bool, LiveObject | None]:
    """Dry-run a restart on the server; return whether it needs force, and its result.

    It does if `kubectl rollout restart` left its annotation. The result is None if a webhook
    supports no dry run.
    """
    writer = Writer(session.client, session.resources, session.clock)
    trial = Write(0, live.ref, Verb.APPLY, body, live.uid, None, RESTART_MANAGER)
    try:
        return False, writer.dry_run(trial)
    except FieldManagerConflict:
        return True, writer.dry_run(replace(trial, force=True))
    except RefusedError as error:
        if NO_DRY_RUN not in error.message:
            raise
        warn(f"{live.ref} was not tried: {error.message}")
    return False, None


def _resume_command(session: Session, ref: Ref) -> str:
    """Return the command that resumes a workload, ready to paste."""
    words = ("rollout-gate", "resume", argument_of(ref))
    return session.connection.cluster.command(*words, namespace=ref.namespace)
