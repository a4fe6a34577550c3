"""What is reported at the end of a command: a refusal, a verdict, or that nothing was written.

It is imported when it is needed, and by an apply while it waits for its rollout: the room of
reports takes a twentieth of an apply's start.
"""

from __future__ import annotations

from pathlib import Path

from gate import log
from gate.app.runtime.console import Console, style_of, write_safely, write_trace
from gate.app.runtime.host_report import Hosting
from gate.app.runtime.metrics import count_refusal
from gate.app.runtime.world import World
from gate.ci.sink import Written
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.model.outcome import Outcome, Reason
from gate.errors import GateError, place_of
from gate.report.document.document import document, minimal
from gate.report.formats.files import json_text, write_report
from gate.report.formats.format import Format
from gate.report.formats.text import verdict_text
from gate.report.schema.result import Result
from gate.report.words.refusal import refusal


def report_refusal(world: World, settings: Settings, console: Console, error: GateError) -> int:
    """Report an end without a verdict; return its exit code."""
    count_refusal(world, console, error)
    said = error.outcome, error.exit_code, error.reason, error.message
    result = minimal(*said, console.run(), hint=error.hint)
    hosting = _publish(world, settings, console, world.secrets.mask_value(result))
    if settings.log_format == "json":
        facts = {"reason": error.reason.value, "exit_code": error.exit_code, "hint": error.hint}
        log.error(error.outcome.value, text=error.message, **facts)
    else:
        style = style_of(world.streams.stderr, settings, world.environ)
        text = refusal(error, style, result["command"])
        write_safely(world.streams.stderr, hosting.frame_text(text))
    hosting.remark()
    return error.exit_code


def report_no_change(
    world: World, settings: Settings, console: Console, reason: Reason, message: str
) -> int:
    """Report that there was nothing to write."""
    console.note("passed", message)
    result = minimal(Outcome.OBSERVED, 0, reason, message, console.run())
    _publish(world, settings, console, world.secrets.mask_value(result)).remark()
    return 0


def report_verdict(world: World, settings: Settings, console: Console, attempt: Attempt) -> int:
    """Report a verdict; a fault of the report is only a warning."""
    try:
        result = world.secrets.mask_value(document(attempt, console.run()))
        hosting = _publish(world, settings, console, result)
        if settings.output != "json":
            is_whole = not console.stdout.isatty()
            text = verdict_text(result, console.style(settings), is_whole=is_whole)
            console.write(hosting.frame_text(text))
        hosting.remark()
    except Exception as error:  # noqa: BLE001 - the exit code is what a pipeline goes by
        write_trace(world, settings, error)
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
