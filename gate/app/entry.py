"""The commands as functions of their settings: each returns its exit code.

Each imports what it needs when it runs: a `replay` needs no Kubernetes client.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from gate.app.runtime.command_end import run_query
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.world import World
from gate.config import Settings


def apply(world: World, settings: Settings) -> int:
    """Apply a manifest, follow and judge its rollout, roll back if it fails."""
    from gate.app.commands import apply

    return apply.apply(world, settings)


def preflight(world: World, settings: Settings) -> int:
    """Do everything that precedes the first write; with `--rbac` print the Role instead."""
    from gate.app.commands import preflight

    return preflight.preflight(world, settings)


def verify(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out; with `--rbac` print the Role instead."""
    from gate.app.commands import verify

    return verify.verify(world, settings, names)


def checks(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Ask every check now; with `--show` or `--power` say what they are, or could show."""

    def query(start: CommandStart) -> int:
        if settings.show is not None:
            from gate.sources.ready_made import find

            start.console.write(find(settings.show, settings.metrics).as_configuration())
            return 0
        if settings.power:
            from gate.app.commands import check_power

            return check_power.power(start, names)
        from gate.app.commands import checks

        return checks.checks(start, names)

    return run_query(world, "checks", settings, query)


def status(world: World, settings: Settings, name: str) -> int:
    """Show a workload and the state of each of its pods, with the reason."""
    from gate.app.commands import inspection

    return run_query(world, "status", settings, partial(inspection.status, name=name))


def history(world: World, settings: Settings, name: str) -> int:
    """Show the revisions of a workload."""
    from gate.app.commands import inspection

    return run_query(world, "history", settings, partial(inspection.history, name=name))


def undo(world: World, settings: Settings, name: str) -> int:
    """Return to an earlier revision."""
    from gate.app.commands import undo

    return undo.undo(world, settings, name)


def pause(world: World, settings: Settings, name: str) -> int:
    """Pause a workload."""
    from gate.app.commands import pause

    return pause.pause(world, settings, name)


def resume(world: World, settings: Settings, name: str) -> int:
    """Resume a workload and follow it."""
    from gate.app.commands import resume

    return resume.resume(world, settings, name)


def restart(world: World, settings: Settings, name: str) -> int:
    """Restart a workload and follow it."""
    from gate.app.commands import restart

    return restart.restart(world, settings, name)


def recover(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Finish what a killed gate left."""
    from gate.app.commands import recover

    return recover.recover(world, settings, names)


def locks(world: World, settings: Settings) -> int:
    """Show the locks of a namespace, or give one back."""
    from gate.app.commands import locks

    return run_query(world, "locks", settings, locks.locks)


def replay(world: World, settings: Settings, file: str) -> int:
    """Judge a recording on its own time."""
    from gate.app.replay import recording
    from gate.app.replay.judgement import judge

    def query(start: CommandStart) -> int:
        loaded = recording.load(file, settings)
        (judged,) = judge(loaded.recording, loaded.now)
        document = json.dumps(judged.document(), indent=2) + "\n"
        text = judged.text(is_quiet=settings.quiet)
        start.console.write(document if settings.output == "json" else text)
        return 0

    return run_query(world, "replay", settings, query)


def report(world: World, settings: Settings, file: str) -> int:
    """Render a result, or the judgement of a recording."""
    from gate.app.replay import rendered_report
    from gate.app.runtime.live_tree import of_terminal

    def query(start: CommandStart) -> int:
        return rendered_report.render(file, settings, start.console)

    # The rendered run ended long ago: this command writes none of its reports, and nothing for a
    # CI host.
    quiet = replace(world, environ=of_terminal(world.environ))
    return run_query(quiet, "report", settings.with_values(report=()), query)


def backtest(world: World, settings: Settings, paths: tuple[str, ...]) -> int:
    """Judge recordings under a changed policy."""
    from gate.app.replay import backtest as backtesting

    return backtesting.backtest(world, settings, paths)


def rehearse(world: World, settings: Settings) -> int:
    """Try a manifest and its gate against failures, in a sandbox."""
    from gate.app.rehearsal import rehearse as rehearsing

    return rehearsing.rehearse(world, settings)


def demo(world: World, settings: Settings, name: str) -> int:
    """Show a failure and how it ends, in a sandbox."""
    from gate.app.rehearsal import demo as showing

    return showing.demo(world, settings, name)


def sandbox(world: World, settings: Settings) -> int:
    """Run a sandbox until a signal comes."""
    from gate.app.rehearsal import serve

    return serve.sandbox(world, settings)
