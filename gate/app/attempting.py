"""`apply` from its settings to its exit code: prepared, recorded where asked for, carried out."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from gate.app.apply import prepare_attempt, read_manifest
from gate.app.console import Console
from gate.app.finishing import Passed, Run, concluded
from gate.app.recording import taped
from gate.app.running import run
from gate.app.session import opened
from gate.app.world import World
from gate.config import Settings


def apply(world: World, settings: Settings) -> int:
    """Apply a manifest, follow it, judge it, roll back where it fails."""

    def prepare(console: Console, stack: ExitStack) -> Run | Passed:
        manifest = read_manifest(settings, world.stdin)
        count = len(manifest.deployments)
        tape = stack.enter_context(taped(settings, console.clock, count, console.warn))
        heard, line = (tape.heard, tape.line) if tape is not None else (None, None)
        session = opened(world, settings, stack, heard)
        ready = prepare_attempt(session, settings, manifest, console, line)
        if settings.dry_run:
            return Passed("a dry run: nothing was written")
        return partial(run, ready, console)

    return concluded(world, "apply", settings, prepare)
