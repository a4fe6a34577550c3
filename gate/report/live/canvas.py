"""What to send to a terminal so that it shows a picture at its end, below lines that stay.

A fold of pictures, without a terminal: each picture is painted over the one before, line by line,
and only where it differs. The cursor stays visible, in the row below the picture: however the
process ends, nothing has to be restored. Control sequences: ECMA-48 and the DEC private modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.core.frozen import dataclass

_AT_ONCE: Final = ("\x1b[?2026h", "\x1b[?2026l")
"""Synchronized output: the terminal shows what is between the two as one change."""
_UNWRAPPED: Final = ("\x1b[?7l", "\x1b[?7h")
"""DECAWM: a line with characters wider than we think is cut at the margin, not wrapped."""
_CLEAR_LINE: Final = "\x1b[K"
_CLEAR_BELOW: Final = "\x1b[J"


@dataclass(frozen=True, slots=True)
class Painted:
    """A line with its colours, and how many columns it takes."""

    text: str
    columns: int


class Canvas:
    """The end of one terminal.

    `reflows` is whether it wraps lines that have become too long for it: then a picture takes more
    rows after the window has become narrower.
    """

    def __init__(self, *, reflows: bool = True) -> None:
        self._reflows = reflows
        self._shown: tuple[Painted, ...] = ()
        self._columns = 0
        self._left_behind = False

    def paint_picture(self, above: str, picture: Sequence[Painted], columns: int, rows: int) -> str:
        """Return what puts `above` and, below it, `picture` on the screen; "" for no change.

        `above` is whole lines. The picture has fewer than `rows` lines, each narrower than
        `columns`.
        """
        if self._left_behind:
            self._shown, self._left_behind = (), False
        if not picture and not self._shown:
            return above
        if not above and tuple(picture) == self._shown and columns == self._columns:
            return ""
        start = self._to_the_top(columns, rows)
        afresh = bool(above) or columns != self._columns
        if afresh:
            lines = "".join(f"{line.text}\r\n" for line in picture)
            start += _CLEAR_BELOW + above.replace("\n", "\r\n")
        else:
            lines = self._paint_changes(picture) + _CLEAR_BELOW
        self._shown, self._columns = tuple(picture), columns
        on, off = _AT_ONCE
        unwrapped, wrapped = _UNWRAPPED
        return f"{on}{start}{unwrapped}{lines}{wrapped}{off}"

    def forget(self) -> None:
        """Leave the picture where it is: others have written below it; any thread may call this."""
        self._left_behind = True

    def _to_the_top(self, columns: int, rows: int) -> str:
        """Return the cursor movement from the row below the picture to its first line."""
        used = sum(self._rows_of(line, columns) for line in self._shown)
        up = min(used, max(0, rows - 1))
        return f"\r\x1b[{up}A" if up else "\r"

    def _rows_of(self, line: Painted, columns: int) -> int:
        if not self._reflows or columns >= self._columns or columns < 1:
            return 1
        return max(1, -(-line.columns // columns))

    def _paint_changes(self, picture: Sequence[Painted]) -> str:
        """Return the lines that differ, and the cursor movements past the others."""
        before = (*self._shown, *(None for _ in picture[len(self._shown) :]))
        return "".join(
            "\r\n" if line == old else f"{line.text}{_CLEAR_LINE}\r\n"
            for line, old in zip(picture, before, strict=False)
        )
