"""`apply` from its settings to its exit code: prepared, carried out, and recorded if asked for."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from gate.app.commands.apply_plan import (
    arrive,
    end_dry_run,
    prepare_attempt,
    read_manifest,
)
from gate.app.execution.recovery import Carry, Recovery, under_lock
from gate.app.execution.run import Ready, run
from gate.app.locks.command_locks import look_at_locks, take_locks
from gate.app.locks.memory import Claim
from gate.app.preflight.check_subjects import require_answerable
from gate.app.replay.recording import Tape, record_run
from gate.app.runtime.command_end import Passed, Run, run_command
from gate.app.runtime.console import Console
from gate.app.runtime.session import open_session
from gate.app.runtime.world import World
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import locks_of
from gate.signals import Delivery


def apply(world: World, settings: Settings) -> int:
    """Apply a manifest, follow and judge its rollout, roll back if it fails."""

    def prepare(console: Console, stack: ExitStack) -> Run | Passed:
        manifest = read_manifest(settings, world.stdin)
        require_answerable(settings, all_checks(settings))
        count = len(manifest.deployments)
        tape = stack.enter_context(
            record_run(settings, console.clock, count, console.warn, world.secrets)
        )
        heard, line = (tape.on_answer, tape.line) if tape is not None else (None, None)
        session = open_session(world, settings, stack, console, heard)
        manifest = arrive(session, settings, manifest, console)
        attempt = partial(prepare_attempt, session, settings, manifest, console, line)
        refs = [item.ref for item in manifest.objects]
        if settings.dry_run:
            ready = attempt(Claim(look_at_locks(session, settings, console, refs)))
            return end_dry_run(ready.plan, "a dry run: nothing was written")
        locks = locks_of(refs, session.namespace)
        keeper = take_locks(session, settings, console, world, locks)
        carry: Carry = run
        if tape is not None:
            carry = partial(_run_and_record, tape)
        return under_lock(Recovery(world, settings, console), session, keeper, attempt, carry)

    return run_command(world, "apply", settings, prepare)


def _run_and_record(tape: Tape, ready: Ready, console: Console, delivered: Delivery) -> Attempt:
    """Run an attempt and record it, including its end."""
    attempt = run(
        ready,
        console,
        delivered,
        measured=tape.on_measurement,
        writing=tape.writing,
        moved=tape.on_step,
    )
    tape.on_end(attempt, console.run())
    return attempt
