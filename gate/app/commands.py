"""The commands as functions of their settings: each returns its exit code.

Each imports what it needs when it runs: a `replay` has no use for a Kubernetes client.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from gate.app.console import Console, write_safely
from gate.app.finishing import concluded
from gate.clock import SystemClock
from gate.config import Settings, policy
from gate.core.attempt import Attempt

if TYPE_CHECKING:
    from gate.app.session import Session


def apply(settings: Settings) -> int:
    """Apply a manifest, follow it, judge it, roll back where it fails."""
    from gate.app import apply as applying
    from gate.app import recording

    def work(console: Console) -> Attempt | None:
        manifest = applying.read_manifest(settings)
        deployments = len(manifest.deployments)
        with recording.taped(settings.record, SystemClock(), deployments, console.warn) as tape:
            return applying.apply(settings, manifest, console, tape)

    return concluded("apply", settings, work)


def preflight(settings: Settings) -> int:
    """Do everything that precedes the first write; with `--rbac` print the Role instead."""
    from gate.app import apply as applying

    def work(console: Console) -> None:
        manifest = applying.read_manifest(settings)
        session = _session(settings)
        if settings.rbac:
            write_safely(sys.stdout, applying.role(session, settings, manifest))
            return
        applying.prepare_attempt(session, settings, manifest, console).watching.stop()
        console.note("preflight", "nothing refuses this manifest; nothing was written")

    return concluded("preflight", settings, work)


def verify(settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out."""
    from gate.app import verify as verifying

    def work(console: Console) -> Attempt:
        return verifying.verify(_session(settings), settings, names, console)

    return concluded("verify", settings, work)


def status(settings: Settings, name: str) -> int:
    """Show a Deployment and why each pod is as it is."""
    from gate.app import inspection

    return inspection.status(lambda: _session(settings), settings, name)


def history(settings: Settings, name: str) -> int:
    """Show the revisions of a Deployment."""
    from gate.app import inspection

    return inspection.history(lambda: _session(settings), settings, name)


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

    judged = judge(recording.load(file), policy(settings))
    document = json.dumps(judged.document(), indent=2) + "\n"
    write_safely(sys.stdout, document if settings.output == "json" else judged.text())
    return 0


def _changed(command: str, settings: Settings, name: str) -> int:
    from gate.app import changing

    def work(console: Console) -> Attempt:
        return changing.COMMANDS[command](_session(settings), settings, name, console)

    return concluded(command, settings, work)


def _session(settings: Settings) -> Session:
    from gate.app.session import open_session

    return open_session(settings, SystemClock())
