"""Writes the golden texts anew: `python -m tests.unit.report.rewrite`. Read what it changed."""

from __future__ import annotations

from pathlib import Path

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.unit.report.endings import ENDINGS
from tests.unit.report.results import example

GOLDEN = Path(__file__).parent / "golden"


def rendered(name: str) -> str:
    """Return the verdict block of an ending."""
    return verdict_text(example(name), Style())


if __name__ == "__main__":
    for ending in ENDINGS:
        (GOLDEN / f"{ending}.txt").write_text(rendered(ending), encoding="utf-8")
