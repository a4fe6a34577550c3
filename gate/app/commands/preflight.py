"""`preflight`: the phases of an apply that precede its first write, or the Role that it needs."""

from __future__ import annotations

from gate.app.command_context import connect
from gate.app.commands.dry_run import end_unwritten
from gate.app.preflight.check_subjects import require_answerable
from gate.app.preflight.manifest_guard import guard_manifest
from gate.app.preflight.manifest_reading import read_manifest
from gate.app.preflight.manifest_rights import role
from gate.app.runtime.command_end import Passed, run_command
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.world import World
from gate.config import Settings
from gate.config.limits import all_checks


def preflight(world: World, settings: Settings) -> int:
    """Do everything that precedes the first write; with `--rbac` print the Role instead."""
    return run_command(world, "preflight", settings, run_preflight)


def run_preflight(start: CommandStart) -> Passed | int:
    """Go through the phases of an apply that write nothing; the locks are only read."""
    settings = start.settings
    with start.ends_at_signal():
        manifest = read_manifest(settings, start.world.streams.stdin, start.console.attempt_id)
        require_answerable(settings, all_checks(settings))
        context = connect(start)
        if settings.rbac:
            context.console.write(role(context, manifest))
            return 0
        manifest = guard_manifest(context, manifest)
        context = context.with_memory_of(item.ref for item in manifest.objects)
        said = "nothing refuses this manifest; nothing was written"
        return end_unwritten(context, manifest, said)
