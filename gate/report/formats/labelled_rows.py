"""Rows under labels, which make up the verdict on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.report.style.style import Style, Tone, columns, pad

_LABEL_COLUMNS = 10
_INDENT = "  "


_MOST_LINES_OF_A_ROW = 100


def describe_elsewhere(count: int) -> str:
    """Say where so many things stand that are left out here."""
    return f"the result document has {'it' if count == 1 else 'them all'} (--output json)"


class Block:
    """Lines under labels; all but commands fit the width of the stream.

    Where it `is_whole`, as in the log of a CI job, nothing is cut: a row has as many lines as it
    takes, and what is one line is as long as it is. Where it `is_tight`, a row has no more lines
    than at the usual width, and is cut.
    """

    def __init__(self, style: Style, *, is_whole: bool = False, is_tight: bool = False) -> None:
        self._style = style
        self._is_whole = is_whole
        self._is_tight = is_tight
        self._labelled = ""
        self.lines: list[str] = []

    def row(self, label: str, text: str, lines: int = 2, room: int = _MOST_LINES_OF_A_ROW) -> None:
        """Add text under a label, which is shown only before its first line.

        It has as much as fits into `lines` of the usual width, and at most `room` lines.
        """
        most = lines if self._is_tight else self._style.roomy(lines)
        self._wrap(label, text, min(most, room))

    def pointer(self, label: str, text: str, lines: int = 2) -> None:
        """Add a row that is never tight, for what to type or open comes at its end."""
        self._wrap(label, text, self._style.roomy(lines))

    def _wrap(self, label: str, text: str, lines: int) -> None:
        margin = len(_INDENT) + _LABEL_COLUMNS
        most = _MOST_LINES_OF_A_ROW if self._is_whole else lines
        for line in self._style.wrap(text, self._style.width - margin, most):
            self._add(label, line)

    def join_names(self, names: Sequence[str], lines: int) -> str:
        """Return names for a row of several lines: all that fit, and how many do not."""
        room = self._style.width - len(_INDENT) - _LABEL_COLUMNS
        most = min(len(names), lines + 1)
        for count in range(len(names), 0, -1):
            rest = f" and {len(names) - count} more" if count < len(names) else ""
            text = ", ".join(names[:count]) + rest
            if len(self._style.wrap(text, room, most)) <= lines:
                return text
        return f"{len(names)} objects"

    def line(self, label: str, text: str, sign: str = "") -> None:
        """Add text as one line, cut if it is too long for a terminal."""
        if self._is_whole:
            self._add(label, sign + self._style.printable(text))
            return
        room = self._style.width - len(_INDENT) - _LABEL_COLUMNS - columns(sign)
        self._add(label, sign + self._style.cut(text, room))

    def cells(self, label: str, text: str) -> None:
        """Add a row of a table as it is, wrapped if it does not fit."""
        if self._is_whole or columns(text) <= self._style.width - len(_INDENT) - _LABEL_COLUMNS:
            self._add(label, text)
        else:
            self.row(label, text)

    def command(self, label: str, text: str) -> None:
        """Add a command, which is never cut or changed: it is there to be copied."""
        self._add(label, _INDENT + text)

    def _add(self, label: str, line: str) -> None:
        shown = "" if label == self._labelled else label
        self._labelled = label
        start = self._style.paint(pad(shown, _LABEL_COLUMNS), Tone.QUIET)
        self.lines.append(f"{_INDENT}{start}{line}".rstrip())
