"""The plot of the page: how many rollouts are failed, and passed, by when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final

import numpy as np

from gate.core.statistics.count_decision import CountRule
from tests.statistics.cells import ANY_TIME, BAKE, EQUAL, THRICE, TWICE, Cell
from tests.statistics.measures import RUNS, ends_of
from tests.statistics.traffic import Traffic

_WIDTH, _HEIGHT = 360, 200
_LEFT, _TOP, _GAP = 48, 40, 64
_SHOWN: Final = (
    ("equal", EQUAL, "#4c78a8"),
    ("1.5 times", Traffic(ratio=1.5), "#b8860b"),
    ("twice", TWICE, "#d1495b"),
    ("three times", THRICE, "#7b2d8b"),
)
_PANELS: Final = (
    ("failed, bake window", BAKE, False),
    ("passed, bake window", BAKE, True),
    ("failed, unknown length", ANY_TIME, False),
    ("passed, unknown length", ANY_TIME, True),
)


@dataclass(frozen=True, slots=True)
class Line:
    """The share of rollouts by tick."""

    name: str
    colour: str
    shares: tuple[float, ...]


def plot(runs: int = RUNS) -> str:
    """Return the plot as SVG: a panel for failing and passing of each rule."""
    width = 2 * (_LEFT + _WIDTH) + _GAP
    height = 2 * (_TOP + _HEIGHT + _GAP)
    body = "".join(
        _panel(title, _lines(rule, runs, passing=passing), at % 2, at // 2)
        for at, (title, rule, passing) in enumerate(_PANELS)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}</svg>\n'
    )


def _lines(rule: CountRule, runs: int, *, passing: bool) -> Iterator[Line]:
    for name, traffic, colour in _SHOWN:
        ends = ends_of(Cell(name, traffic, rule), runs)
        chosen = ends.harmless if passing else ends.worse
        if passing:
            chosen = chosen[ends.harmless < ends.worse]
        shares = [float((chosen <= tick).sum()) / runs for tick in range(1, traffic.ticks + 1)]
        yield Line(name, colour, tuple(np.round(shares, 4).tolist()))


def _panel(title: str, lines: Iterator[Line], column: int, row: int) -> str:
    left = _LEFT + column * (_LEFT + _WIDTH + _GAP // 2)
    top = _TOP + row * (_TOP + _HEIGHT + _GAP // 2)
    found = [f'<g transform="translate({left} {top})">\n', _text(0, -12, title, weight="bold")]
    found += _frame()
    for at, line in enumerate(lines):
        found.append(_curve(line))
        found.append(_text(_WIDTH - 84, 20 + 16 * at, line.name, fill=line.colour))
    return "".join([*found, "</g>\n"])


def _frame() -> Iterator[str]:
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999999"/>\n'
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _HEIGHT * (1 - share)
        yield f'<line x2="{_WIDTH}" y1="{y:g}" y2="{y:g}" stroke="#dddddd"/>\n'
        yield _text(-6, y + 4, f"{share:.0%}", anchor="end")
    for minute in range(0, 11, 2):
        yield _text(_WIDTH * minute / 10, _HEIGHT + 16, f"{minute} min", anchor="middle")


def _curve(line: Line) -> str:
    ticks = len(line.shares)
    places = [(0.0, 0.0), *((tick + 1, share) for tick, share in enumerate(line.shares))]
    path = " ".join(
        f"{_WIDTH * tick / ticks:.1f},{_HEIGHT * (1 - share):.1f}" for tick, share in places
    )
    return f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2"/>\n'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    weight: str = "normal",
    fill: str = "#333333",
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{weight}"'
        f' fill="{fill}">{escape(text)}</text>\n'
    )
