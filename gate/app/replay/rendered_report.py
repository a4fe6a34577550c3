"""`report`: renders a result document, or the result of judging a recording again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from gate import __version__
from gate.app.replay import recording
from gate.app.replay.judgement import Judged, Stands, judge
from gate.app.runtime.console import Console
from gate.config import Settings
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.errors import UsageError
from gate.report.document.document import document, minimal
from gate.report.document.run import Run, RunIdentity, RunLines, RunTimes
from gate.report.document.samples import history
from gate.report.formats.files import render_result, write_report
from gate.report.formats.format import Format
from gate.report.schema.reading import read_result, result_of
from gate.report.schema.recorded_result import with_recorded_end
from gate.report.schema.result import Result

_HEADER_BYTES: Final = 64 * 1024
_OF_A_RECORDING: Final = '"trace"'
_NO_END: Final = "what was done after the verdict is not in it, nor how its run ended and what runs"
_NO_LOGS: Final = "the logs and warnings of its run are not in it"


def render(file: str, settings: Settings, console: Console) -> int:
    """Write the requested report files, or print the report; UsageError if one cannot be made.

    Returns 0. It prints if no file is requested, or if a format is set explicitly.
    """
    path = Path(file)
    result = from_recording(file, settings) if _is_recording(path) else read_result(path)
    problems = [
        write_report(Format(report.format), Path(report.path), result) for report in settings.report
    ]
    failed = [problem for problem in problems if problem is not None]
    if failed:
        raise UsageError("; ".join(failed))
    if not settings.report or "format_" in settings.given:
        console.write(render_result(settings.format_, result))
    return 0


def _is_recording(path: Path) -> bool:
    """Tell whether it is a recording, by the start of its first line, which names the format."""
    try:
        with path.open("rb") as file:
            start = file.readline(_HEADER_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    return start.startswith("{") and _OF_A_RECORDING in start


def from_recording(file: str, settings: Settings) -> Result:
    """Return the document of a recording: how its run ended, as far as it holds that.

    Otherwise it is judged under its policy as with `--observe`, and has no exit code.
    """
    loaded = recording.load(file, settings)
    (judged,) = judge(loaded.recording, replace(loaded.now, observe=True))
    attempt = judged.playback.attempt
    made_of = f"made of the recording {file}: {_NO_LOGS if loaded.end else _NO_END}"
    run = Run(
        RunIdentity(__version__),
        RunTimes(clock_end=attempt.now),
        lines=RunLines(judged.playback.timeline, (made_of,)),
        course=judged.playback.course,
    )
    result = document(attempt, run) if attempt.ended else _document_undecided(judged, run)
    if loaded.end is not None:
        # It was judged as with --observe, whose message says what the run then did.
        result["message"] = judged.message
        return result_of(with_recorded_end(result, loaded.end), Path(file))
    result["exit_code"] = None
    for one in result["workloads"]:
        one["running"] = "unknown"
    return result


def _document_undecided(judged: Judged, run: Run) -> Result:
    """Return the document of a recording that ends before a verdict; inconclusive, as `status`."""
    outcome = Outcome.INCONCLUSIVE
    held = judged.verdict is Stands.HELD
    message = f"the recording ends {'paused' if held else 'undecided'}: {judged.message}"
    result = minimal(outcome, EXIT_CODES[outcome], judged.reason, message, run)
    result["checks"] = list(judged.checks)
    result["history"] = history(judged.playback.attempt.plan.policy.checks, judged.checks, run)
    return result
