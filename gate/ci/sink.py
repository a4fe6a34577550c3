"""What a CI host is told of a result: lines in its log, additions to its files. All of it is text.

A sink makes values; `gate.ci.publishing` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gate.report.schema.result import Result
from gate.report.words.facts import piece_title
from gate.report.words.object_names import deployment_name


@dataclass(frozen=True, slots=True)
class Written:
    """A report file that was written: its format, and its path as it was asked for."""

    form: str
    path: str


@dataclass(frozen=True, slots=True)
class Addition:
    """Text for the end of a file of the host's."""

    path: Path
    text: str


class Sink(Protocol):
    """One kind of host."""

    def frame_text(self, text: str) -> str:
        """Return text for people with what keeps the host from taking lines of it for commands."""

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:
        """Return what is to stand in the log below the verdict, "" for nothing."""

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:
        """Return what is to be added to the host's files."""


class Plain:
    """Jenkins, and any place that wants nothing: the log as it is, reports where asked for."""

    def frame_text(self, text: str) -> str:
        """Return it as it is."""
        return text

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:  # noqa: ARG002
        """Return nothing."""
        return ""

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:  # noqa: ARG002
        """Return nothing."""
        return ()


def evidence(result: Result) -> Iterator[tuple[str, str]]:
    """Yield all that speaks against each Deployment: a title, and text that ends in a line feed."""
    for deployment in result["deployments"]:
        pieces = [f"{piece_title(one)}\n{one['text']}\n" for one in deployment["evidence"]]
        if pieces:
            yield f"Evidence: {deployment_name(result, deployment)}", "\n".join(pieces)


def report_path(reports: Sequence[Written]) -> str:
    """Return the report to open: the page where there is one, else the first, "" for none."""
    pages = [report for report in reports if report.form == "html"]
    return next((report.path for report in (*pages, *reports)), "")
