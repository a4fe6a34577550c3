"""The end of a run: its document on stdout, its report files, its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from gate.app.console import Console, lines_on, write_safely
from gate.clock import SystemClock
from gate.config import Settings
from gate.core.attempt import Attempt
from gate.errors import GateError
from gate.report.document import document, minimal
from gate.report.refusal import refusal
from gate.report.result import Result
from gate.report.sinks import Format, json_text, write_report
from gate.report.style import Style
from gate.report.text import verdict_text


def concluded(command: str, settings: Settings, work: Callable[[Console], Attempt | None]) -> int:
    """Run `work` and report its attempt, or the error that ended it; return the exit code.

    `work` returns None where there was nothing to attempt (a dry run).
    """
    console = Console(SystemClock(), lines_on(sys.stderr, settings), command)
    try:
        attempt = work(console)
    except GateError as error:
        result = minimal(error.outcome, error.exit_code, error.reason, error.message, console.run())
        _publish(settings, result, refusal(error, style_of(sys.stderr, settings)), sys.stderr)
        return error.exit_code
    if attempt is None:
        return 0
    result = document(attempt, console.run())
    _publish(settings, result, verdict_text(result, style_of(sys.stdout, settings)), sys.stdout)
    return attempt.exit_code


def _publish(settings: Settings, result: Result, text: str, stream: TextIO) -> None:
    """Write every sink; a broken one is a warning and changes nothing."""
    for report in settings.report:
        warning = write_report(Format(report.format), Path(report.path), result)
        if warning is not None:
            write_safely(sys.stderr, f"warning: {warning}\n")
    if settings.output == "json":
        write_safely(sys.stdout, json_text(result))
        if stream is sys.stdout:
            return
    write_safely(stream, text)


def style_of(stream: TextIO, settings: Settings) -> Style:
    """Return what a stream can show: colour on a terminal alone, and never under NO_COLOR."""
    encoding = stream.encoding or "utf-8"
    wanted = not settings.plain and "NO_COLOR" not in os.environ
    return Style(color=wanted and stream.isatty(), encoding=encoding)
