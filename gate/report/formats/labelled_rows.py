"""Rows under labels, which make up the verdict on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.report.style.style import Style, Tone, columns, pad

_LABEL_COLUMNS = 10
_INDENT = "  "


class Block:
    """Lines under labels; all but commands fit the width of the stream."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._labelled = ""
        self.lines: list[str] = []

    def row(self, label: str, text: str, lines: int = 2) -> None:
        """Add text under a label, which is shown only before its first line."""
        margin = len(_INDENT) + _LABEL_COLUMNS
        for line in self._style.wrap(text, self._style.width - margin, self._style.roomy(lines)):
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
        """Add text as one line, cut if it is too long."""
        room = self._style.width - len(_INDENT) - _LABEL_COLUMNS - columns(sign)
        self._add(label, sign + self._style.cut(text, room))

    def command(self, label: str, text: str) -> None:
        """Add a command, which is never cut or changed: it is there to be copied."""
        self._add(label, _INDENT + text)

    def _add(self, label: str, line: str) -> None:
        shown = "" if label == self._labelled else label
        self._labelled = label
        start = self._style.paint(pad(shown, _LABEL_COLUMNS), Tone.QUIET)
        self.lines.append(f"{_INDENT}{start}{line}".rstrip())
