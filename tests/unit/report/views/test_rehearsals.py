"""The table of rehearsals, on a terminal and in a log."""

from __future__ import annotations

import pytest

from gate.report.style.style import Style, columns
from gate.report.views.rehearsals import RehearsalResult, document, rehearsals_text

WHY = (
    "ImagePull: registry.example.com:5000/shop/web:2.3.1: authorization failed"
    " (1 of 1 created pods)"
)


def row(kind: str, why: str) -> RehearsalResult:
    """Return a rehearsal that ended as it is to."""
    return {
        "kind": kind,
        "says": "",
        "outcome": "rolled-back",
        "exit_code": 4,
        "reason": "ImagePull",
        "why": why,
        "decided_at_seconds": 30.0,
        "duration_seconds": 40.0,
        "returned_to": "revision 1",
        "as_expected": True,
        "mend": "",
    }


FOUND = document([row("good", "Complete"), row("image-denied", WHY)], (), 600.0)


def test_a_log_has_every_cause_whole() -> None:
    """What is cut off there can be looked up nowhere else."""
    text = rehearsals_text(FOUND, Style(), whole=True)
    assert text.splitlines()[2].endswith(WHY)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_terminal_has_no_line_that_it_breaks(width: int) -> None:
    """On a narrow one a cause has a line of its own; what fits stays in its row."""
    lines = rehearsals_text(FOUND, Style(width=width)).splitlines()
    assert all(columns(line) <= width for line in lines)
    assert len(lines) == (6 if width == 80 else 5)
    assert "ImagePull: registry.ex" in lines[3 if width == 80 else 2]
    assert lines[1].endswith("Complete")
