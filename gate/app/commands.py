"""The commands as functions of their settings: each returns its exit code.

Each imports what it needs when it runs: a `replay` has no use for a Kubernetes client.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from gate.app.console import Console, write_safely
from gate.app.finishing import Passed, concluded
from gate.config import Settings, policy
from gate.core.attempt import Attempt

if TYPE_CHECKING:
    from gate.app.session import Session
    from gate.kube.client import Heard

Run = Callable[[], Attempt]


def apply(settings: Settings) -> int:
    """Apply a manifest, follow it, judge it, roll back where it fails."""
    from gate.app import apply as applying
    from gate.app.recording import taped
    from gate.app.running import run

    def prepare(console: Console, stack: ExitStack) -> Run | Passed:
        manifest = applying.read_manifest(settings)
        count = len(manifest.deployments)
        tape = stack.enter_context(taped(settings, console.clock, count, console.warn))
        heard, line = (tape.heard, tape.line) if tape is not None else (None, None)
        session = _session(settings, console, stack, heard)
        ready = applying.prepare_attempt(session, settings, manifest, console, line)
        if settings.dry_run:
            return Passed("a dry run: nothing was written")
        return partial(run, ready, console)

    return concluded("apply", settings, prepare)


def preflight(settings: Settings) -> int:
    """Do everything that precedes the first write; with `--rbac` print the Role instead."""
    from gate.app import apply as applying

    def prepare(console: Console, stack: ExitStack) -> Passed | int:
        manifest = applying.read_manifest(settings)
        session = _session(settings, console, stack)
        if settings.rbac:
            write_safely(sys.stdout, applying.role(session, settings, manifest))
            return 0
        applying.prepare_attempt(session, settings, manifest, console)
        return Passed("nothing refuses this manifest; nothing was written")

    return concluded("preflight", settings, prepare)


def verify(settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out."""
    from gate.app import verify as verifying
    from gate.app.running import run

    def prepare(console: Console, stack: ExitStack) -> Run:
        session = _session(settings, console, stack)
        return partial(run, verifying.verify(session, settings, names, console), console)

    return concluded("verify", settings, prepare)


def status(settings: Settings, name: str) -> int:
    """Show a Deployment and why each pod is as it is."""
    from gate.app import inspection

    def prepare(console: Console, stack: ExitStack) -> int:
        return inspection.status(_session(settings, console, stack), settings, name)

    return concluded("status", settings, prepare)


def history(settings: Settings, name: str) -> int:
    """Show the revisions of a Deployment."""
    from gate.app import inspection

    def prepare(console: Console, stack: ExitStack) -> int:
        return inspection.history(_session(settings, console, stack), settings, name)

    return concluded("history", settings, prepare)


def undo(settings: Settings, name: str) -> int:
    """Return to an earlier revision."""
    return _changed("undo", settings, name)


def pause(settings: Settings, name: str) -> int:
    """Pause a Deployment."""
    return _changed("pause", settings, name)


def resume(settings: Settings, name: str) -> int:
    """Resume a Deployment and follow it."""
    return _changed("resume", settings, name)


def restart(settings: Settings, name: str) -> int:
    """Restart a Deployment and follow it."""
    return _changed("restart", settings, name)


def replay(settings: Settings, file: str) -> int:
    """Judge a recording on its own time."""
    from gate.app import recording
    from gate.app.replay import judge

    def prepare(_console: Console, _stack: ExitStack) -> int:
        recorded, told = recording.load(file, settings)
        judged = judge(recorded, policy(told))
        document = json.dumps(judged.document(), indent=2) + "\n"
        write_safely(sys.stdout, document if settings.output == "json" else judged.text())
        return 0

    return concluded("replay", settings, prepare)


def _changed(command: str, settings: Settings, name: str) -> int:
    from gate.app import changing
    from gate.app.running import run

    def prepare(console: Console, stack: ExitStack) -> Run:
        session = _session(settings, console, stack)
        return partial(run, changing.COMMANDS[command](session, settings, name, console), console)

    return concluded(command, settings, prepare)


def _session(
    settings: Settings, console: Console, stack: ExitStack, heard: Heard | None = None
) -> Session:
    """Connect until the end of the command."""
    from gate.app.session import connected

    return stack.enter_context(connected(settings, console.clock, heard))
