"""The commands as functions of their settings: each returns its exit code.

Each imports what it needs when it runs: a `replay` needs no Kubernetes client.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from gate.app.runtime.command_end import Passed, Run, run_command
from gate.app.runtime.console import Console
from gate.app.runtime.world import World
from gate.config import Settings


def apply(world: World, settings: Settings) -> int:
    """Apply a manifest, follow and judge its rollout, roll back if it fails."""
    from gate.app.commands import apply
    from gate.app.runtime.metrics import with_metrics

    return apply.apply(with_metrics(world, settings, "apply"), settings)


def preflight(world: World, settings: Settings) -> int:
    """Do everything that precedes the first write; with `--rbac` print the Role instead."""
    from gate.app.commands import apply_plan as applying
    from gate.app.locks.command_locks import look_at_locks
    from gate.app.locks.memory import Claim
    from gate.app.preflight.check_subjects import require_answerable
    from gate.app.runtime.session import open_session
    from gate.config.limits import all_checks

    def prepare(console: Console, stack: ExitStack) -> Passed | int:
        manifest = applying.read_manifest(settings, world.stdin)
        require_answerable(settings, all_checks(settings))
        session = open_session(world, settings, stack, console)
        if settings.rbac:
            console.write(applying.role(session, settings, manifest))
            return 0
        manifest = applying.arrive(session, settings, manifest, console)
        memory = look_at_locks(session, settings, console, [item.ref for item in manifest.objects])
        ready = applying.prepare_attempt(session, settings, manifest, console, None, Claim(memory))
        said = "nothing refuses this manifest; nothing was written"
        return applying.end_dry_run(ready.plan, said)

    return run_command(world, "preflight", settings, prepare)


def verify(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out; with `--rbac` print the Role instead."""
    from gate.app.commands import verify as verifying
    from gate.app.execution.run import run
    from gate.app.locks.command_locks import take_locks
    from gate.app.locks.unfinished_attempt import recovery_of
    from gate.app.preflight.check_subjects import require_answerable
    from gate.app.runtime.metrics import with_metrics
    from gate.app.runtime.session import open_session
    from gate.config.limits import all_checks
    from gate.core.kinds.registry import locks_of

    world = with_metrics(world, settings, "verify")

    def prepare(console: Console, stack: ExitStack) -> Run | int:
        require_answerable(settings, all_checks(settings))
        verifying.require_selector(settings.selector)
        session = open_session(world, settings, stack, console)
        if settings.rbac:
            console.write(verifying.role(session, settings))
            return 0
        refs = verifying.arrive(session, settings, names, console)
        locks = locks_of(refs, session.namespace)
        if all(recovery_of(session, ref, world.processes) for ref in refs):
            console.record_stays()
        keeper = take_locks(session, settings, console, world, locks)
        lock_lane = keeper.lane(session.inbox) if keeper is not None else None
        return partial(run, verifying.verify(session, settings, refs, console, lock_lane), console)

    return run_command(world, "verify", settings, prepare)


def checks(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Ask every check now; with `--show` print a ready-made one instead."""

    def prepare(console: Console, stack: ExitStack) -> int:
        if settings.show is not None:
            from gate.sources.ready_made import find

            console.write(find(settings.show, settings.metrics).as_configuration())
            return 0
        from gate.app.commands import checks as asking

        return asking.checks(world, settings, names, console, stack)

    return run_command(world, "checks", settings, prepare)


def status(world: World, settings: Settings, name: str) -> int:
    """Show a Deployment and the state of each of its pods, with the reason."""
    from gate.app.commands import inspection
    from gate.app.runtime.session import open_session

    def prepare(console: Console, stack: ExitStack) -> int:
        session = open_session(world, settings, stack, console)
        return inspection.status(session, settings, name, console)

    return run_command(world, "status", settings, prepare)


def history(world: World, settings: Settings, name: str) -> int:
    """Show the revisions of a Deployment."""
    from gate.app.commands import inspection
    from gate.app.runtime.session import open_session

    def prepare(console: Console, stack: ExitStack) -> int:
        session = open_session(world, settings, stack, console)
        return inspection.history(session, settings, world, name, console)

    return run_command(world, "history", settings, prepare)


def undo(world: World, settings: Settings, name: str) -> int:
    """Return to an earlier revision."""
    return _run_single_write(world, "undo", settings, name)


def pause(world: World, settings: Settings, name: str) -> int:
    """Pause a Deployment."""
    return _run_single_write(world, "pause", settings, name)


def resume(world: World, settings: Settings, name: str) -> int:
    """Resume a Deployment and follow it."""
    return _run_single_write(world, "resume", settings, name)


def restart(world: World, settings: Settings, name: str) -> int:
    """Restart a Deployment and follow it."""
    return _run_single_write(world, "restart", settings, name)


def recover(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Finish what a killed gate left."""
    from gate.app.commands.recover import recover as prepare_recovery
    from gate.app.execution.recovery import Recovery
    from gate.app.runtime.metrics import with_metrics
    from gate.app.runtime.session import open_session

    world = with_metrics(world, settings, "recover")

    def prepare(console: Console, stack: ExitStack) -> Run | Passed:
        recovery = Recovery(world, settings, console, budgets=True)
        return prepare_recovery(recovery, open_session(world, settings, stack, console), names)

    return run_command(world, "recover", settings, prepare)


def locks(world: World, settings: Settings) -> int:
    """Show the locks of a namespace, or give one back."""
    from gate.app.commands import locks as showing
    from gate.app.runtime.session import open_session

    def prepare(console: Console, stack: ExitStack) -> int:
        session = open_session(world, settings, stack, console)
        if settings.release is not None:
            return showing.release(session, settings, world, console)
        return showing.locks(session, settings, world, console)

    return run_command(world, "locks", settings, prepare)


def replay(world: World, settings: Settings, file: str) -> int:
    """Judge a recording on its own time."""
    from gate.app.replay import recording
    from gate.app.replay.judgement import judge

    def prepare(console: Console, _stack: ExitStack) -> int:
        loaded = recording.load(file, settings)
        (judged,) = judge(loaded.recording, loaded.now)
        document = json.dumps(judged.document(), indent=2) + "\n"
        text = judged.text(is_quiet=settings.quiet)
        console.write(document if settings.output == "json" else text)
        return 0

    return run_command(world, "replay", settings, prepare)


def report(world: World, settings: Settings, file: str) -> int:
    """Render a result, or the judgement of a recording."""
    from gate.app.replay import rendered_report
    from gate.app.runtime.live_tree import of_terminal

    def prepare(console: Console, _stack: ExitStack) -> int:
        return rendered_report.render(file, settings, console)

    # The rendered run ended long ago: this command writes none of its reports, and nothing for a
    # CI host.
    quiet = replace(world, environ=of_terminal(world.environ))
    return run_command(quiet, "report", settings.model_copy(update={"report": ()}), prepare)


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


def _run_single_write(world: World, command: str, settings: Settings, name: str) -> int:
    from gate.app.commands import single_write
    from gate.app.execution.concurrent_run import warn_of_run
    from gate.app.execution.recovery import Recovery, under_lock
    from gate.app.locks.command_locks import take_locks
    from gate.app.runtime.metrics import with_metrics
    from gate.app.runtime.session import open_session

    world = with_metrics(world, settings, command)

    def prepare(console: Console, stack: ExitStack) -> Run:
        session = open_session(world, settings, stack, console)
        named = single_write.arrive(session, settings, name, console, command)
        if command == "pause":
            warn_of_run(session, name, world.processes, console.warn)
        locks = single_write.locks(session, settings, console, command, name)
        keeper = take_locks(session, settings, console, world, locks)
        begin = single_write.command_of(command, named)
        attempt = partial(begin, session, settings, name, console)
        is_done = single_write.is_done(session, settings, console, command, name)
        undone = single_write.undone_commands(settings, command)
        recovery = Recovery(world, settings, console, undone=undone)
        return under_lock(recovery, session, keeper, attempt, is_done=is_done)

    return run_command(world, command, settings, prepare)
