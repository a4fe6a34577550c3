"""The commands as functions of their settings: each returns its exit code.

Each imports what it needs when it runs: a `replay` has no use for a Kubernetes client.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial

from gate.app.console import Console
from gate.app.finishing import Passed, Run, concluded
from gate.app.world import World
from gate.config import Settings, policy


def apply(world: World, settings: Settings) -> int:
    """Apply a manifest, follow it, judge it, roll back where it fails."""
    from gate.app import attempting

    return attempting.apply(world, settings)


def preflight(world: World, settings: Settings) -> int:
    """Do everything that precedes the first write; with `--rbac` print the Role instead."""
    from gate.app import apply as applying
    from gate.app.session import opened

    def prepare(console: Console, stack: ExitStack) -> Passed | int:
        manifest = applying.read_manifest(settings, world.stdin)
        session = opened(world, settings, stack)
        if settings.rbac:
            console.write(applying.role(session, settings, manifest))
            return 0
        applying.prepare_attempt(session, settings, manifest, console)
        return Passed("nothing refuses this manifest; nothing was written")

    return concluded(world, "preflight", settings, prepare)


def verify(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out."""
    from gate.app import verify as verifying
    from gate.app.running import run
    from gate.app.session import opened

    def prepare(console: Console, stack: ExitStack) -> Run:
        session = opened(world, settings, stack)
        return partial(run, verifying.verify(session, settings, names, console), console)

    return concluded(world, "verify", settings, prepare)


def status(world: World, settings: Settings, name: str) -> int:
    """Show a Deployment and why each pod is as it is."""
    from gate.app import inspection
    from gate.app.session import opened

    def prepare(console: Console, stack: ExitStack) -> int:
        session = opened(world, settings, stack)
        return inspection.status(session, settings, name, console)

    return concluded(world, "status", settings, prepare)


def history(world: World, settings: Settings, name: str) -> int:
    """Show the revisions of a Deployment."""
    from gate.app import inspection
    from gate.app.session import opened

    def prepare(console: Console, stack: ExitStack) -> int:
        session = opened(world, settings, stack)
        return inspection.history(session, settings, name, console)

    return concluded(world, "history", settings, prepare)


def undo(world: World, settings: Settings, name: str) -> int:
    """Return to an earlier revision."""
    return _changed(world, "undo", settings, name)


def pause(world: World, settings: Settings, name: str) -> int:
    """Pause a Deployment."""
    return _changed(world, "pause", settings, name)


def resume(world: World, settings: Settings, name: str) -> int:
    """Resume a Deployment and follow it."""
    return _changed(world, "resume", settings, name)


def restart(world: World, settings: Settings, name: str) -> int:
    """Restart a Deployment and follow it."""
    return _changed(world, "restart", settings, name)


def replay(world: World, settings: Settings, file: str) -> int:
    """Judge a recording on its own time."""
    from gate.app import recording
    from gate.app.replay import judge

    def prepare(console: Console, _stack: ExitStack) -> int:
        recorded, told = recording.load(file, settings)
        judged = judge(recorded, policy(told))
        document = json.dumps(judged.document(), indent=2) + "\n"
        console.write(document if settings.output == "json" else judged.text())
        return 0

    return concluded(world, "replay", settings, prepare)


def rehearse(world: World, settings: Settings) -> int:
    """Try a manifest and its gate against failures, in a sandbox."""
    from gate.app.rehearsal import rehearse as rehearsing

    return rehearsing.rehearse(world, settings)


def demo(world: World, settings: Settings, name: str) -> int:
    """Show a failure and its end, in a sandbox."""
    from gate.app.rehearsal import demo as showing

    return showing.demo(world, settings, name)


def sandbox(world: World, settings: Settings) -> int:
    """Run a sandbox until a signal."""
    from gate.app.rehearsal import serve

    return serve.sandbox(world, settings)


def _changed(world: World, command: str, settings: Settings, name: str) -> int:
    from gate.app import changing
    from gate.app.running import run
    from gate.app.session import opened

    def prepare(console: Console, stack: ExitStack) -> Run:
        session = opened(world, settings, stack)
        ready = changing.COMMANDS[command](session, settings, name, console)
        return partial(run, ready, console)

    return concluded(world, command, settings, prepare)
