"""What came of each fault, as a pytest plugin: `--reliability FILE` gets one line a test.

A test names the rows that it shows with `@pytest.mark.fault(4, 5)`. `tests.faults.page` makes the
table of docs/reliability.md of the lines.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from tests.bed.bed import Bed
from tests.bed.invariants import Run
from tests.faults.proxy import Proxy

_OPTION = "--reliability"


@dataclass(frozen=True, slots=True)
class Line:
    """How a test of a fault ended: its runs of the gate, their seconds and requests in all."""

    fault: int
    test: str
    passed: bool
    ends: tuple[str, ...]
    seconds: float
    requests: int


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the file be named."""
    parser.addoption(_OPTION, type=Path, help="append how each test of a fault ended to this file")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    what = "fault(*numbers): the rows of docs/reliability.md that this test shows"
    config.addinivalue_line("markers", what)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write the lines of a test that has run."""
    report = yield
    path: Path | None = item.config.getoption(_OPTION)
    if path is not None and call.when == "call" and isinstance(item, pytest.Function):
        with path.open("a") as file:
            for mark in item.iter_markers("fault"):
                for number in mark.args:
                    file.write(json.dumps(asdict(_line(number, item, report))) + "\n")
    return report


def _line(number: int, item: pytest.Function, report: pytest.TestReport) -> Line:
    bed, proxy = item.funcargs.get("bed"), item.funcargs.get("proxy")
    runs = bed.runs if isinstance(bed, Bed) else []
    return Line(
        fault=number,
        test=f"{item.path.name}::{item.name}",
        passed=report.passed,
        ends=tuple(map(_end, runs)),
        seconds=sum(run.result.duration_seconds for run in runs),
        requests=len(proxy.log)
        if isinstance(proxy, Proxy)
        else sum(len(run.requests or ()) for run in runs),
    )


def _end(run: Run) -> str:
    """Tell an end in one word or three: the code, and outcome and reason where there are some."""
    document = run.document or {}
    end_words = [str(run.result.exit_code), document.get("outcome", ""), document.get("reason", "")]
    return " ".join(filter(None, end_words))
