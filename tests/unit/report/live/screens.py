"""Screens to read what a terminal would show, by pyte."""

from __future__ import annotations

import re

import pyte

_SGR = re.compile(r"\x1b\[[0-9;]*m")


def plain(text: str) -> str:
    """Return a text without its colours."""
    return _SGR.sub("", text)


class Screen:
    """A terminal with all that has left it at the top."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=1)
        self._stream = pyte.Stream(self.screen)

    def feed(self, text: str) -> None:
        """Show text as it comes through a line discipline, which returns at each line feed."""
        self._stream.feed(text.replace("\n", "\r\n"))

    def resize(self, columns: int, rows: int) -> None:
        """Change the window as a terminal does that cuts long lines; the cursor stays in it.

        Where pyte drops lines at the top, there are blank ones for it to drop.
        """
        screen, cursor = self.screen, self.screen.cursor
        row, column = cursor.y, cursor.x
        too_low = max(0, row + 1 - rows)
        screen.cursor_position(screen.lines, 1)
        for _ in range(too_low):
            screen.index()
        screen.cursor_position(1, 1)
        if screen.lines > rows:
            screen.insert_lines(screen.lines - rows)
        screen.cursor_position(row - too_low + 1, column + 1)
        screen.resize(rows, columns)

    @property
    def lines(self) -> list[str]:
        """The screen's lines, without the empty ones at its end."""
        shown = [line.rstrip() for line in self.screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def everything(self) -> list[str]:
        """What was scrolled off, and the screen."""
        top = [
            "".join(line[column].data for column in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        return [*top, *self.lines]

    @property
    def is_whole(self) -> bool:
        """Whether it is as a shell wants it: cursor visible, lines wrap, colours off."""
        cursor = self.screen.cursor
        wraps = pyte.modes.DECAWM in self.screen.mode
        usual = cursor.attrs == self.screen.default_char
        return not cursor.hidden and wraps and usual and cursor.x == 0
