"""docs/statistics.md: what a person needs to know, and the table of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.statistics.cells import Bound, Cell, Section, sections
from tests.statistics.measures import RUNS, Measures

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "statistics.md", DOCS / "pictures" / "statistics.svg"
BEGIN, END = "<!-- simulated: generated -->\n", "<!-- simulated: end -->\n"
_HEAD = (
    "| of {runs:,} rollouts | failed | half are failed after | passed early |"
    " half are passed after | bound |\n" + "|---" * 6 + "|\n"
)
_NEVER = "-"


def with_table(page: str, generated: str) -> str:
    """Return the page with another table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + generated + END + after


def table(measured: Mapping[Cell, Measures], runs: int = RUNS) -> str:
    """Return a table for each section."""
    return "\n" + "\n".join(_section(section, measured, runs) for section in sections()) + "\n"


def _section(section: Section, measured: Mapping[Cell, Measures], runs: int) -> str:
    rows = "".join(row(cell, measured[cell]) for cell in section.cells)
    return f"### {section.title}\n\n{_HEAD.format(runs=runs)}{rows}"


def row(cell: Cell, found: Measures) -> str:
    """Return the row of a cell."""
    columns = (
        cell.name,
        f"{found.failed:.2%}",
        _seconds(found.seconds),
        f"{found.passed:.2%}",
        _seconds(found.pass_seconds),
        bounds_of(cell.bounds),
    )
    return f"| {' | '.join(columns)} |\n"


def bounds_of(bounds: Iterable[Bound]) -> str:
    """Return bounds in words."""
    return ", ".join(map(_bound, bounds))


def _bound(bound: Bound) -> str:
    how, end = ("at most", bound.most) if bound.most is not None else ("at least", bound.least)
    if bound.measure == "seconds":
        return f"failed after {how} {end:g} s"
    return f"{bound.measure} {how} {end or 0:.0%}"


def _seconds(seconds: float) -> str:
    return _NEVER if seconds == float("inf") else f"{seconds:g} s"
