"""What a CI host gets of a result: lines in its log, additions to its files. All of it is text.

A sink only makes values; `gate.ci.publishing` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from gate.core.frozen import dataclass
from gate.report.schema.result import Result
from gate.report.words.facts import piece_title
from gate.report.words.object_names import workload_name


@dataclass(frozen=True, slots=True)
class Written:
    """A report file that was written: its format, and its path as requested."""

    form: str
    path: str


@dataclass(frozen=True, slots=True)
class Addition:
    """Text to append to one of the host's files."""

    path: Path
    text: str


class Sink(Protocol):
    """One kind of host."""

    def frame_text(self, text: str) -> str:
        """Return text for people, framed so that the host takes no line of it for a command."""

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:
        """Return what to write into the log below the verdict, "" for nothing."""

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:
        """Return what to append to the host's files."""


class Plain:
    """Jenkins, and any place that wants nothing: a plain log, and reports if asked for."""

    def frame_text(self, text: str) -> str:
        """Return it unchanged."""
        return text

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:  # noqa: ARG002
        """Return nothing."""
        return ""

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:  # noqa: ARG002
        """Return nothing."""
        return ()


def evidence(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the evidence against each workload: a title, and text that ends in a line feed."""
    for workload in result["workloads"]:
        pieces = [f"{piece_title(workload, one)}\n{one['text']}\n" for one in workload["evidence"]]
        if pieces:
            yield f"Evidence: {workload_name(result, workload)}", "\n".join(pieces)


def report_path(reports: Sequence[Written]) -> str:
    """Return the path of the report to open: the HTML page, else the first one, "" for none."""
    pages = [report for report in reports if report.form == "html"]
    return next((report.path for report in (*pages, *reports)), "")
