"""Runs a command to its end: what it reports on stdout and in files, and its exit code.

An attempt decides how its command ends, and no fault of a report changes what it decided.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from gate import log, signals
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console, lines_on, write_trace
from gate.app.runtime.live_tree import live_tree
from gate.app.runtime.masking import mask_streams
from gate.app.runtime.metrics import measure_run, with_metrics
from gate.app.runtime.stopped import Stopped
from gate.app.runtime.world import World
from gate.ci.host import pipeline_run
from gate.ci.tracing import trace_context
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.model.outcome import Reason
from gate.errors import Bug, GateError, place_of
from gate.last_word import last_word


@dataclass(frozen=True, slots=True)
class Passed:
    """Nothing refuses the request, and there was nothing to write."""

    message: str
    reason: Reason = Reason.NO_CHANGE


Work = Callable[[CommandStart], Attempt | Passed | int]
"""What a command does; an int is the exit code of one that printed its own answer.

A first signal is ignored but in the blocks of `ends_at_signal`, and while an attempt runs."""

Query = Callable[[CommandStart], int]
"""What a command does that follows no attempt and prints its own answer; returns its exit code."""


def run_query(world: World, command: str, settings: Settings, query: Query) -> int:
    """Run a command that a first signal may end at any time; return the exit code."""

    def work(start: CommandStart) -> int:
        with start.ends_at_signal():
            return query(start)

    return run_command(world, command, settings, work)


def run_attempt(world: World, command: str, settings: Settings, work: Work) -> int:
    """Run a command that may change a cluster; its metrics are collected if asked for."""
    return run_command(with_metrics(world, settings, command), command, settings, work)


def run_command(world: World, command: str, settings: Settings, work: Work) -> int:
    """Do a command's work, report the result masked; return the exit code."""
    with mask_streams(world) as seen:
        return _run_and_report(seen, command, settings, work)


def _run_and_report(world: World, command: str, settings: Settings, work: Work) -> int:
    show = lines_on(world.streams.stderr, settings)
    pipeline, trace = pipeline_run(world.environ), trace_context(world.environ)
    console = Console(
        world.clock,
        show,
        command,
        world.streams.stdout,
        origin=pipeline.origin,
        environ=world.environ,
    )
    console.tree = live_tree(world.streams.stderr, settings, world.clock)
    console.about({"traceparent": trace.traceparent})
    named = log.bind_facts(
        run=pipeline.run,
        attempt=console.attempt_id,
        trace_id=trace.trace_id,
        span_id=trace.span_id,
    )
    # What follows the verdict takes only moments: a first signal does not cut off the report.
    with (
        named,
        world.delivered(signals.ignore_signal),
        last_word(console.describe_end),
        _threads_watched(console),
        measure_run(world, settings, console),
    ):
        try:
            ended: Attempt | Passed | GateError | int = _do_work(world, settings, console, work)
        except signals.Signalled as signalled:
            ended = Stopped(signalled, command)
        except GateError as error:
            ended = error
        except Exception as error:  # noqa: BLE001 - each end has its code and its report
            write_trace(world, settings, error)
            ended = Bug(error)
        return ended if isinstance(ended, int) else _report(world, settings, console, ended)


def _report(
    world: World, settings: Settings, console: Console, ended: Attempt | Passed | GateError
) -> int:
    try:
        from gate.app.runtime.end_report import EndReport  # an apply has loaded it while it waited
    except ImportError as error:  # the installation was replaced meanwhile
        if not isinstance(ended, Attempt):
            raise
        console.warn(f"there is no report: {place_of(error)}: {error}")
        return ended.exit_code

    report = EndReport(world, settings, console)
    match ended:
        case GateError():
            return report.refuse(ended)
        case Passed(message, reason):
            return report.pass_unchanged(reason, message)
        case _:
            return report.judge(ended)


def _do_work(
    world: World, settings: Settings, console: Console, work: Work
) -> Attempt | Passed | int:
    with ExitStack() as stack:
        if console.tree is not None:
            stack.callback(console.tree.end)  # the report takes the tree's place
        return work(CommandStart(world, settings, console, stack))


@contextmanager
def _threads_watched(console: Console) -> Iterator[None]:
    """Warn of a bug that ends a thread of ours: a watch is only a hint, and the reads go on."""
    before = threading.excepthook

    def tell(about: threading.ExceptHookArgs) -> None:
        if about.exc_value is not None and about.thread is not None:
            place = place_of(about.exc_value)
            console.warn(f"{about.thread.name} broke: {place}; this is a bug in rollout-gate")

    threading.excepthook = tell
    try:
        yield
    finally:
        threading.excepthook = before
