"""Runs a command to its end: what it reports on stdout and in files, and its exit code.

An attempt decides how its command ends, and no fault of a report changes what it decided.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gate import log, signals
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console, lines_on, style_of, write_safely
from gate.app.runtime.host_report import Hosting
from gate.app.runtime.live_tree import live_tree
from gate.app.runtime.masking import mask_streams
from gate.app.runtime.metrics import count_refusal, measure_run, with_metrics
from gate.app.runtime.world import World
from gate.ci.host import pipeline_run
from gate.ci.sink import Written
from gate.ci.tracing import trace_context
from gate.config import Settings
from gate.config.takers import CLUSTER_CHANGING
from gate.core.attempt.state import Attempt
from gate.core.model.outcome import Outcome, Reason
from gate.errors import Bug, GateError, place_of
from gate.last_word import last_word
from gate.report.document.document import document, minimal
from gate.report.formats.files import Format, json_text, write_report
from gate.report.formats.text import verdict_text
from gate.report.schema.result import Result
from gate.report.words.refusal import refusal


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


class Stopped(GateError):
    """A signal ended `command` before anything was written. Exit 128 plus its number."""

    outcome = Outcome.INTERRUPTED

    def __init__(self, signalled: signals.Signalled, command: str) -> None:
        what = "anything of its own" if signalled.after_recovery else "anything"
        # Nobody expects a read-only command to write.
        when = f" before {what} was written" if command in CLUSTER_CHANGING else ""
        super().__init__(f"{signalled} ended it{when}", reason=Reason.INTERRUPTED)
        self.number = signalled.number

    @property
    def exit_code(self) -> int:
        """The code that a shell reports for a process ended by the signal."""
        return signals.SIGNAL_BASE + self.number


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
    show = lines_on(world.stderr, settings)
    pipeline, trace = pipeline_run(world.environ), trace_context(world.environ)
    console = Console(
        world.clock, show, command, world.stdout, origin=pipeline.origin, environ=world.environ
    )
    console.tree = live_tree(world.stderr, settings, world.clock)
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
            ended = _do_work(world, settings, console, work)
        except signals.Signalled as signalled:
            return _report_refusal(world, settings, console, Stopped(signalled, command))
        except GateError as error:
            return _report_refusal(world, settings, console, error)
        except Exception as error:  # noqa: BLE001 - each end has its code and its report
            _debug(world, settings, error)
            return _report_refusal(world, settings, console, Bug(error))
        if isinstance(ended, int):
            return ended
        if isinstance(ended, Passed):
            return _report_no_change(world, settings, console, ended)
        return _report_verdict(world, settings, console, ended)


def _do_work(
    world: World, settings: Settings, console: Console, work: Work
) -> Attempt | Passed | int:
    with ExitStack() as stack:
        if console.tree is not None:
            stack.callback(console.tree.end)  # the report takes the tree's place
        return work(CommandStart(world, settings, console, stack))


def _report_refusal(world: World, settings: Settings, console: Console, error: GateError) -> int:
    count_refusal(world, console, error)
    said = error.outcome, error.exit_code, error.reason, error.message
    result = minimal(*said, console.run(), hint=error.hint)
    hosting = _publish(world, settings, console, world.secrets.mask_value(result))
    if settings.log_format == "json":
        facts = {"reason": error.reason.value, "exit_code": error.exit_code, "hint": error.hint}
        log.error(error.outcome.value, text=error.message, **facts)
    else:
        text = refusal(error, style_of(world.stderr, settings, world.environ))
        write_safely(world.stderr, hosting.frame_text(text))
    hosting.remark()
    return error.exit_code


def _report_no_change(world: World, settings: Settings, console: Console, passed: Passed) -> int:
    console.note("passed", passed.message)
    result = minimal(Outcome.OBSERVED, 0, passed.reason, passed.message, console.run())
    _publish(world, settings, console, world.secrets.mask_value(result)).remark()
    return 0


def _report_verdict(world: World, settings: Settings, console: Console, attempt: Attempt) -> int:
    """Report a verdict; a fault of the report is only a warning."""
    try:
        result = world.secrets.mask_value(document(attempt, console.run()))
        hosting = _publish(world, settings, console, result)
        if settings.output != "json":
            text = verdict_text(result, console.style(settings))
            console.write(hosting.frame_text(text))
        hosting.remark()
    except Exception as error:  # noqa: BLE001 - the exit code is what a pipeline goes by
        _debug(world, settings, error)
        console.warn(f"the report broke off: {place_of(error)}; this is a bug in rollout-gate")
    return attempt.exit_code


def _publish(world: World, settings: Settings, console: Console, result: Result) -> Hosting:
    """Write the report files, the document if it goes to stdout, and the CI host's files."""
    written = []
    for report in settings.report:
        warning = write_report(Format(report.format), Path(report.path), result)
        if warning is None:
            written.append(Written(report.format, report.path))
        else:
            console.warn(warning)
    if settings.output == "json":
        console.write(json_text(result))
    return Hosting.of(world, settings, console, result, written)


def _debug(world: World, settings: Settings, error: BaseException) -> None:
    if settings.log_level == "debug":
        write_safely(world.stderr, "".join(traceback.format_exception(error)))


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
