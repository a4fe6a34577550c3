"""A view as lines of a terminal, by rich: signs, colours, guides and bars; never too many lines.

Imported only to show a tree. Text is never read as rich's markup: each piece is a `Text`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from typing import Final

from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, OverflowMethod, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from gate.core.frozen import dataclass
from gate.duration import format_seconds
from gate.report.live.canvas import Painted
from gate.report.live.outline import Branch, fit_outline
from gate.report.live.view import ClockView, Mark, View
from gate.report.style.style import Style, Symbol

_SIGNS: Final = {
    Mark.BAD: (Symbol.BAD, "bold red"),
    Mark.UNSURE: (Symbol.UNSURE, "bold yellow"),
    Mark.MOVING: (Symbol.MOVING, "bold cyan"),
    Mark.GOOD: (Symbol.GOOD, "bold green"),
    Mark.QUIET: (Symbol.QUIET, "dim"),
}
_QUIET: Final = "dim"
_NARROW: Final = 64
"""Columns below which names are shortened."""
_BARS_FROM: Final = 36
"""Columns from which on there is room for bars."""
_WORRYING, _ALARMING = 0.5, 0.8
"""Shares of a limit from which on a clock is yellow, and red."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a line, in a style of rich's."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """The room that there is, in columns and lines, and the terminal's encoding."""

    columns: int
    lines: int
    encoding: str = "utf-8"


def frame(view: View, look: Look) -> tuple[Painted, ...]:
    """Return a view as at most `look.lines` lines of at most `look.columns` columns."""
    if look.lines < 1 or look.columns < 1:
        return ()
    painter = _Painter(look)
    outline = fit_outline(view, look.lines)
    parts: list[RenderableType] = [painter.heading(view)]
    parts += [painter.tree(branch) for branch in outline.branches]
    if outline.clocks:
        parts.append(painter.clocks(outline.clocks))
    return tuple(painter.paint_lines(parts))[: look.lines]


@dataclass(frozen=True, slots=True)
class _Bar:
    """A bar as wide as its cell, which can be read without its colours, too."""

    share: float
    color: str
    style: Style

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the elapsed part and the rest."""
        over = round(self.share * options.max_width)
        left = self.style.sign(Symbol.RULE) * (options.max_width - over)
        yield Text.assemble((self.style.sign(Symbol.BAR) * over, self.color), (left, _QUIET))


class _Painter:
    def __init__(self, look: Look) -> None:
        self._style = Style(encoding=look.encoding, width=look.columns)
        self._width = look.columns
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="standard",
            no_color=False,
            width=look.columns,
            height=look.lines,
            legacy_windows=False,
            highlight=False,
            _environ={},
        )
        self._guides = (
            self._style.sign(Symbol.NO_TRUNK),
            self._style.sign(Symbol.TRUNK),
            self._style.sign(Symbol.BRANCH),
            self._style.sign(Symbol.LAST_BRANCH),
        )
        self._options = self._console.options
        self._options.encoding = look.encoding
        self._overflow: OverflowMethod = "crop" if self._options.ascii_only else "ellipsis"

    def heading(self, view: View) -> Text:
        """Return a rule between the lines above and the tree, with what is being done."""
        rule = self._style.sign(Symbol.RULE)
        took = f" {_seconds(view.seconds)} {rule * 2}"
        room = self._width - len(took)
        said = self._line(_Piece(rule * 2, _QUIET), _Piece(view.phase, _SIGNS[view.mark][1]))
        said.truncate(max(1, room - 1), overflow=self._overflow)
        said.append(" ")
        said.append(rule * (room - said.cell_len), _QUIET)
        said.append(took, _QUIET)
        return said

    def tree(self, branch: Branch) -> Tree:
        """Return a branch with its guides, and all branches below it."""
        tree = Tree(self._label(branch, "bold"), guide_style=_QUIET)
        tree.TREE_GUIDES, tree.ASCII_GUIDES = [self._guides] * 3, self._guides
        self._hang(tree, branch.below)
        return tree

    def _hang(self, tree: Tree, branches: Iterable[Branch]) -> None:
        for branch in branches:
            style = "bold" if branch.mark is None else ""
            self._hang(tree.add(self._label(branch, style)), branch.below)

    def _label(self, branch: Branch, style: str) -> Text:
        pieces = []
        if branch.mark is not None:
            symbol, color = _SIGNS[branch.mark]
            pieces.append(_Piece(self._style.sign(symbol), color))
        name = branch.short if branch.short and self._width < _NARROW else branch.name
        pieces.append(_Piece(f"{name}:" if name and branch.words else name, style))
        return self._line(*pieces, _Piece(branch.words), _Piece(branch.quiet, _QUIET))

    def _line(self, *pieces: _Piece) -> Text:
        """Return one line of the pieces that are not empty, separated by spaces."""
        line = Text(no_wrap=True, overflow=self._overflow, end="")
        for piece in pieces:
            text = " ".join(self._style.printable(piece.text).split())
            if text:
                line.append(" " if line else "")
                line.append(text, piece.style)
        return line

    def clocks(self, clocks: Iterable[ClockView]) -> Table:
        """Return a row for each clock, with a bar if there is room for it."""
        grid = Table.grid(padding=(0, 2), expand=self._width >= _BARS_FROM)
        grid.add_column(no_wrap=True, overflow=self._overflow, style=_QUIET)
        if self._width >= _BARS_FROM:
            grid.add_column(ratio=1)
        grid.add_column(no_wrap=True, overflow=self._overflow, justify="right")
        for clock in clocks:
            bar = _Bar(clock.share, _color(clock), self._style)
            of = f"{_seconds(clock.seconds)} of {_seconds(clock.limit_seconds)}"
            cells: list[RenderableType] = [Text(clock.label), bar, Text(of)]
            grid.add_row(*(cells if self._width >= _BARS_FROM else (cells[0], cells[2])))
        return grid

    def paint_lines(self, parts: Iterable[RenderableType]) -> Iterator[Painted]:
        """Yield lines with their colours as SGR parameters (ECMA-48)."""
        for part in parts:
            for line in self._console.render_lines(part, self._options, pad=False):
                text = "".join(map(_ansi, line))
                yield Painted(text, sum(segment.cell_length for segment in line))


def _ansi(segment: Segment) -> str:
    if segment.style is None or not segment.text:
        return segment.text
    return segment.style.render(segment.text, color_system=ColorSystem.STANDARD)


def _color(clock: ClockView) -> str:
    """Return the colour: a limit that comes nearer is a worry, the end of a bake window is not."""
    if clock.welcome:
        return "green"
    if clock.share >= _ALARMING:
        return "red"
    return "yellow" if clock.share >= _WORRYING else "cyan"


def _seconds(seconds: float) -> str:
    """Return whole seconds, which change once a second."""
    return format_seconds(math.floor(seconds))
