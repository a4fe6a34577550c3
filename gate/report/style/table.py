"""A table of short cells and one long one: as wide as it may be, or whole if nobody watches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.report.style.style import Style, columns, pad

_LEAST_COLUMNS: Final = 24
_INDENT: Final = "    "


def table(rows: Sequence[Sequence[str]], style: Style, *, whole: bool = False) -> list[str]:
    """Return the lines of a table, whose first row is its head; `whole` cuts nothing off.

    The last cell takes what the others leave, or a line of its own.
    """
    widths = [max(columns(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [line for row in rows for line in _lines(row, widths, style, whole=whole)]


def _lines(row: Sequence[str], widths: Sequence[int], style: Style, *, whole: bool) -> list[str]:
    cells = [pad(cell, width) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
    start, last = "  ".join([*cells, ""]), row[-1]
    left = style.width - columns(start)
    if whole:
        return [f"{start}{style.printable(last)}".rstrip()]
    if columns(last) <= left or left >= _LEAST_COLUMNS:
        return [f"{start}{style.cut(last, left)}".rstrip()]
    return [start.rstrip(), f"{_INDENT}{style.cut(last, style.width - len(_INDENT))}"]
