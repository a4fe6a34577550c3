"""`apply`, from its settings to the end of its attempt."""

from __future__ import annotations

from gate.app.command_context import connect
from gate.app.commands.apply_plan import plan_apply
from gate.app.commands.dry_run import NOTHING_WRITTEN, end_unwritten
from gate.app.execution.left_runs import await_early_runs, await_left_runs
from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.app.execution.run import run
from gate.app.preflight.check_subjects import require_answerable
from gate.app.preflight.manifest_guard import guard_manifest
from gate.app.preflight.manifest_reading import read_manifest
from gate.app.runtime.command_end import Passed, run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.tape import open_tape
from gate.app.runtime.world import World
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import locks_of


def apply(world: World, settings: Settings) -> int:
    """Apply a manifest, follow and judge its rollout, roll back if it fails."""
    return run_attempt(world, "apply", settings, run_apply)


def run_apply(start: CommandStart) -> Attempt | Passed:
    """Go through the phases of an apply, of which Recover and Run alone write objects.

    Each phase may refuse the apply by raising a GateError. A signal ends it at once, except in
    Recover and Run, where it is an event to the attempt.
    """
    settings = start.settings
    with start.ends_at_signal():
        # Read: the manifest's files, and what the checks need of this machine.
        manifest = read_manifest(settings, start.world.streams.stdin, start.console.attempt_id)
        require_answerable(settings, all_checks(settings))

        # Connect: from the kubeconfig; the server is not asked anything yet.
        context = connect(start, open_tape(start, len(manifest.workloads)))

        # Guard: the right cluster, and namespaces that exist and are not protected.
        manifest = guard_manifest(context, manifest)
        refs = [item.ref for item in manifest.objects]
        if settings.dry_run:
            return end_unwritten(context.with_memory_of(refs), manifest, NOTHING_WRITTEN)

        # Lock: the first writes, to the Leases of the workloads.
        locked = [item.lasting_ref for item in manifest.objects]
        context = context.with_locks(locks_of(locked, context.session.namespace))

    # Recover: finish what a gate that died under these locks left, and await its Jobs.
    ended = await_early_runs(context, manifest)
    if ended is None:
        rewrites = [item.lasting_ref for item in manifest.workloads]
        ends = finish_open_records(Recovery(context, rewrites=rewrites))
        ended = cut_off(ends) or await_left_runs(context, manifest, ends)
    if ended is not None:
        return ended

    with start.ends_at_signal():
        # Plan: everything else that can refuse it, up to the dry run of the way back.
        ready = plan_apply(context.with_lock_lane(), manifest)

    # Run: record the plan, write, follow, judge, and go back if it fails.
    return run(ready)
