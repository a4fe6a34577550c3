"""What is reported at the end of a command: a refusal, a verdict, or that nothing was written.

It is imported when it is needed, and by an apply while it waits for its rollout: the room of
reports takes a twentieth of an apply's start.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gate import log
from gate.app.runtime.console import Console, style_of, write_safely, write_trace
from gate.app.runtime.metrics import count_refusal
from gate.app.runtime.world import World
from gate.ci.publishing import publish, sink_of
from gate.ci.sink import Plain, Sink, Written
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.model.outcome import Outcome, Reason
from gate.errors import GateError, place_of
from gate.report.document.document import document, minimal
from gate.report.formats.files import json_text, write_report
from gate.report.formats.format import Format
from gate.report.formats.text import verdict_text
from gate.report.schema.result import Result
from gate.report.words.refusal import refusal


@dataclass(frozen=True, slots=True)
class _Hosted:
    """What the CI host's log still has to have once its files are written."""

    sink: Sink
    remarks: str


@dataclass(frozen=True, slots=True)
class EndReport:
    """Where a command reports its end; each report returns the exit code."""

    world: World
    settings: Settings
    console: Console

    def refuse(self, error: GateError) -> int:
        """Report an end without a verdict."""
        count_refusal(self.world, self.console, error)
        said = error.outcome, error.exit_code, error.reason, error.message
        result = self._mask(minimal(*said, self.console.run(), hint=error.hint))
        hosted = self._publish(result)
        if self.settings.log_format == "json":
            facts = {"reason": error.reason.value, "exit_code": error.exit_code, "hint": error.hint}
            log.error(error.outcome.value, text=error.message, **facts)
        else:
            stderr = self.world.streams.stderr
            style = style_of(stderr, self.settings, self.world.environ)
            text = refusal(error, style, result["command"])
            write_safely(stderr, hosted.sink.frame_text(text))
        self._remark(hosted)
        return error.exit_code

    def pass_unchanged(self, reason: Reason, message: str) -> int:
        """Report that there was nothing to write."""
        self.console.note("passed", message)
        result = minimal(Outcome.OBSERVED, 0, reason, message, self.console.run())
        self._remark(self._publish(self._mask(result)))
        return 0

    def judge(self, attempt: Attempt) -> int:
        """Report a verdict; a fault of the report is only a warning."""
        console, settings = self.console, self.settings
        try:
            result = self._mask(document(attempt, console.run()))
            hosted = self._publish(result)
            if settings.output != "json":
                is_whole = not console.stdout.isatty()
                text = verdict_text(result, console.style(settings), is_whole=is_whole)
                console.write(hosted.sink.frame_text(text))
            self._remark(hosted)
        except Exception as error:  # noqa: BLE001 - the exit code is what a pipeline goes by
            write_trace(self.world, settings, error)
            console.warn(f"the report broke off: {place_of(error)}; this is a bug in rollout-gate")
        return attempt.exit_code

    def _mask(self, result: Result) -> Result:
        masked: Result = self.world.secrets.mask_value(result)
        return masked

    def _publish(self, result: Result) -> _Hosted:
        """Write the report files, the document if it goes to stdout, and the CI host's files."""
        written = []
        for report in self.settings.report:
            warning = write_report(Format(report.format), Path(report.path), result)
            if warning is None:
                written.append(Written(report.format, report.path))
            else:
                self.console.warn(warning)
        if self.settings.output == "json":
            self.console.write(json_text(result))
        return self._write_host_files(result, written)

    def _write_host_files(self, result: Result, reports: Sequence[Written]) -> _Hosted:
        """Write the CI host's files; no fault here changes a verdict."""
        try:
            sink = sink_of(self.world.environ, self.console.clock.wall())
            for warning in publish(sink.additions(result, reports)):
                self.console.warn(warning)
            return _Hosted(sink, sink.remarks(result, reports))
        except Exception as error:  # noqa: BLE001 - no fault of a report may change the verdict
            bug = f"{place_of(error)}; this is a bug in rollout-gate"
            self.console.warn(f"could not report to the CI host: {bug}")
            return _Hosted(Plain(), "")

    def _remark(self, hosted: _Hosted) -> None:
        """Write what goes below the verdict: to stdout, or stderr if stdout has the document."""
        if self.settings.output == "json":
            write_safely(self.world.streams.stderr, hosted.remarks)
        else:
            self.console.write(hosted.remarks)
