"""What checks, pods, containers and the cluster said, as lines of a text report."""

from __future__ import annotations

from collections.abc import Sequence

from gate.report.formats.labelled_rows import Block
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.result import EvidenceResult, WorkloadResult
from gate.report.style.style import Style, Symbol
from gate.report.words.facts import (
    output_title,
)
from gate.report.words.moment import moment

_LOG_LINES = 10
_OTHER_LINES = 3
_MOST_HEADING_LINES = 4
LEAST_ROOM = 3
"""Two lines of a heading and one that is quoted."""


def evidence_lines(
    checks: Sequence[CheckResult],
    workloads: Sequence[WorkloadResult],
    style: Style,
    room: int,
    *,
    is_whole: bool = False,
) -> list[str]:
    """Return as many pieces as there is room for, each with a heading and at least one line.

    The first one's heading is cut where it would leave no room for that line, the others are whole.
    """
    block = Block(style, is_whole=is_whole)
    pieces = [
        *((output_title(one), one["output"].splitlines(), True) for one in checks if one["output"]),
        *(_piece(piece) for workload in workloads for piece in workload["evidence"]),
    ]
    for index, (heading, quoted, is_end) in enumerate(pieces):
        most = _LOG_LINES if index == 0 else _OTHER_LINES
        if room - len(block.lines) < LEAST_ROOM:
            break
        start = len(block.lines)
        least = min(1, len(quoted))
        block.row("evidence", heading, _MOST_HEADING_LINES, room - (least if index == 0 else 0))
        most = min(most, room - len(block.lines))
        if most < least:
            return block.lines[:start]
        shown = quoted[max(0, len(quoted) - most) :] if is_end else quoted[:most]
        for line in shown:
            block.line("evidence", line, style.sign(Symbol.QUOTE))
    return block.lines


def _piece(piece: EvidenceResult) -> tuple[str, list[str], bool]:
    """Return a piece's heading, the lines quoted below it, and whether the last ones tell most."""
    where = f"pod/{piece['pod']}" if piece["pod"] else ""
    where += f", container {piece['container']}" if piece["container"] else ""
    at = f" at {moment(piece['at'])}" if piece["at"] else ""
    lines = [line for line in piece["text"].splitlines() if line.strip()]
    if piece["kind"] == "log":
        return f"{'previous ' if piece['previous'] else ''}log of {where}", lines, True
    first = lines[0] if lines else ""
    verb = "ended" if piece["kind"] == "termination" else "event"
    return f"{where} {verb}{at}: {first}".strip(), lines[1:], False
