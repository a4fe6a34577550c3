"""Rows for a stream that is too narrow for a table: one block each, a line for each cell."""

from __future__ import annotations

from collections.abc import Sequence

from gate.report.style.style import Style, columns, pad

_GAP = "  "
_MOST_LINES = 4


def stack_rows(headings: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> list[str]:
    """Return the lines of the blocks, an empty one between two; a long cell has several lines.

    A cell without a heading goes under the one before it; an empty one is left out.
    """
    return [
        line
        for number, row in enumerate(rows)
        for line in ([""] if number else []) + _block(headings, row, style)
    ]


def _block(headings: Sequence[str], row: Sequence[str], style: Style) -> list[str]:
    label = max(map(columns, headings))
    room = max(1, style.width - label - len(_GAP))
    lines: list[str] = []
    for heading, cell in zip(headings, row, strict=True):
        for number, part in enumerate(style.wrap(cell, room, _MOST_LINES) if cell else ()):
            name = pad("" if number else heading, label)
            lines.append(f"{name}{_GAP}{part}".rstrip())
    return lines
