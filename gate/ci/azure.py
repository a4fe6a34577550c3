"""Azure Pipelines: issues, output variables, the test report and the summary, as logging commands.

Source: learn.microsoft.com, "Logging commands", with its table of escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gate.ci.annotations import Annotation, marks
from gate.ci.sink import Addition, Written, evidence, report_path
from gate.report.formats.outputs import outputs
from gate.report.schema.result import Result

_DATA: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A", ";": "%3B", "]": "%5D"})
_SIGNS: Final = re.compile("#(?=#)")


class Azure:
    """The commands of one step, which the agent reads from its log."""

    def frame_text(self, text: str) -> str:
        """Return text without two adjacent number signs, which would begin a command."""
        return _disarm_commands(text)

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:
        """Return the evidence, folded, then the commands."""
        return "".join([*self._groups(result), *_commands(result, reports)])

    def _groups(self, result: Result) -> Iterator[str]:
        for title, text in evidence(result):
            yield f"##[group]{self.frame_text(title)}\n{self.frame_text(text)}##[endgroup]\n"

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:  # noqa: ARG002
        """Return nothing: the agent reads only commands."""
        return ()


def _disarm_commands(text: str) -> str:
    return _SIGNS.sub("# ", text)


def _commands(result: Result, reports: Sequence[Written]) -> Iterator[str]:
    for annotation in marks(result):
        yield _issue(annotation)
    values = {**outputs(result), "report-path": report_path(reports)}
    for name, value in values.items():
        yield _command("task.setvariable", {"variable": f"gate-{name}", "isOutput": "true"}, value)
    for report in reports:
        path = str(Path(report.path).absolute())
        if report.form == "markdown":
            yield _command("task.uploadsummary", {}, path)
        if report.form == "junit":
            about = {"type": "JUnit", "resultFiles": path, "testRunTitle": "rollout-gate"}
            yield _command("results.publish", about, "")


def _issue(annotation: Annotation) -> str:
    place = {"sourcepath": annotation.file, "linenumber": str(annotation.line or "")}
    about = {"type": annotation.level.value, **{name: text for name, text in place.items() if text}}
    return _command("task.logissue", about, f"{annotation.title}: {annotation.message}")


def _command(name: str, properties: dict[str, str], data: str) -> str:
    assignments = ";".join(f"{key}={text.translate(_PROPERTY)}" for key, text in properties.items())
    return f"##vso[{f'{name} {assignments}'.rstrip()}]{_disarm_commands(data.translate(_DATA))}\n"
