"""GitHub Actions: outputs, the step's summary, annotations, groups.

Sources: docs.github.com, "Workflow commands for GitHub Actions"; actions/runner,
`ActionCommandManager.cs` and `FileCommandManager.cs` for escapes and limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from gate.ci.annotations import Annotation, marks
from gate.ci.sink import Addition, Written, evidence, report_path
from gate.report.formats.markdown import BUDGET_BYTES, markdown
from gate.report.formats.outputs import one_line, outputs
from gate.report.schema.result import Result

_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_MOST_CHARACTERS: Final = 4000
"""Of a message; GitHub truncates it at 4,096."""


class GitHub:
    """The commands and files of one step.

    `token` is random: nobody else's text can contain it. `summary_bytes` is the current size of the
    step's summary, whose limit is per step.
    """

    def __init__(self, environ: Mapping[str, str], token: str, summary_bytes: int = 0) -> None:
        """Take the step's environment, which names its files."""
        self._environ = environ
        self._token = token
        self._summary_bytes = summary_bytes

    def frame_text(self, text: str) -> str:
        """Return text between lines that stop and resume command processing."""
        return f"::stop-commands::{self._token}\n{text}::{self._token}::\n"

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:  # noqa: ARG002
        """Return all evidence, folded, then the annotations."""
        return "".join([*self._groups(result), *map(format_annotation, marks(result))])

    def _groups(self, result: Result) -> Iterator[str]:
        for title, text in evidence(result):
            yield f"::group::{title.translate(_DATA)}\n{self.frame_text(text)}::endgroup::\n"

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:
        """Return the outputs and the summary, each if the step has a file for it."""
        found = []
        if self._environ.get("GITHUB_OUTPUT"):
            values = {**outputs(result), "report-path": report_path(reports)}
            text = "".join(self._output(name, value) for name, value in values.items())
            text += self._output("result", one_line(result))
            found.append(Addition(Path(self._environ["GITHUB_OUTPUT"]), text))
        room = BUDGET_BYTES - self._summary_bytes
        if self._environ.get("GITHUB_STEP_SUMMARY") and room > 0:
            page = markdown(result, room)
            found.append(Addition(Path(self._environ["GITHUB_STEP_SUMMARY"]), page))
        return found

    def _output(self, name: str, value: str) -> str:
        """Return one output; its end marker holds the token, so that no value can end it early."""
        delimiter = f"rollout-gate-{self._token}"
        return f"{name}<<{delimiter}\n{' '.join(value.splitlines())}\n{delimiter}\n"


def format_annotation(annotation: Annotation) -> str:
    """Return the command that makes an annotation, with a line feed."""
    properties = {"title": annotation.title}
    if annotation.file:
        properties |= {"file": annotation.file}
        properties |= {"line": str(annotation.line)} if annotation.line else {}
    assignments = ",".join(
        f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items()
    )
    message = annotation.message[:_MOST_CHARACTERS].translate(_DATA)
    return f"::{annotation.level} {assignments}::{message}\n"
