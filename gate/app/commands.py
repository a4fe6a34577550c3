"""The commands as functions of their settings: each returns its exit code."""

from __future__ import annotations

import json
import sys

from gate.app import apply as applying
from gate.app import changing, inspection, recording
from gate.app import verify as verifying
from gate.app.console import Console, write_safely
from gate.app.finishing import concluded
from gate.app.replay import judge
from gate.app.session import Session, open_session
from gate.clock import SystemClock
from gate.config import Settings, policy
from gate.core.attempt import Attempt
from gate.kube.access import role_yaml


def apply(settings: Settings) -> int:
    """Apply a manifest, follow it, judge it, roll back where it fails."""

    def work(console: Console) -> Attempt | None:
        manifest = applying.read_manifest(settings)
        deployments = len(manifest.deployments)
        with recording.taped(settings.record, SystemClock(), deployments, console.warn) as tape:
            return applying.apply(settings, manifest, console, tape)

    return concluded("apply", settings, work)


def preflight(settings: Settings) -> int:
    """Do everything that precedes the first write."""

    def work(console: Console) -> None:
        manifest = applying.read_manifest(settings)
        session = _session(settings)
        if settings.rbac:
            needs = applying.permissions(session, settings, manifest)
            write_safely(sys.stdout, role_yaml(needs))
            return
        applying.prepare_attempt(session, settings, manifest, console).watching.stop()
        console.note("preflight", "nothing refuses this manifest; nothing was written")

    return concluded("preflight", settings, work)


def verify(settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out."""
    return concluded(
        "verify",
        settings,
        lambda console: verifying.verify(_session(settings), settings, names, console),
    )


def status(settings: Settings, name: str) -> int:
    """Show a Deployment and why each pod is as it is."""
    return inspection.status(_session(settings), settings, name)


def history(settings: Settings, name: str) -> int:
    """Show the revisions of a Deployment."""
    return inspection.history(_session(settings), settings, name)


def undo(settings: Settings, name: str) -> int:
    """Return to an earlier revision."""
    return concluded(
        "undo", settings, lambda console: changing.undo(_session(settings), settings, name, console)
    )


def pause(settings: Settings, name: str) -> int:
    """Pause a Deployment."""
    return concluded(
        "pause",
        settings,
        lambda console: changing.pause(_session(settings), settings, name, console),
    )


def resume(settings: Settings, name: str) -> int:
    """Resume a Deployment and follow it."""
    return concluded(
        "resume",
        settings,
        lambda console: changing.resume(_session(settings), settings, name, console),
    )


def restart(settings: Settings, name: str) -> int:
    """Restart a Deployment and follow it."""
    return concluded(
        "restart",
        settings,
        lambda console: changing.restart(_session(settings), settings, name, console),
    )


def replay(settings: Settings, file: str) -> int:
    """Judge a recording on its own time."""
    judged = judge(recording.load(file), policy(settings))
    if settings.output == "json":
        write_safely(sys.stdout, json.dumps(judged.document(), indent=2) + "\n")
    else:
        write_safely(sys.stdout, judged.text())
    return 0


def _session(settings: Settings) -> Session:
    return open_session(settings, SystemClock())
