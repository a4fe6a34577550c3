"""Map seconds and values to places in a drawing, and draw samples that hold until the next one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gate.core.frozen import dataclass
from gate.duration import format_seconds

_STEPS_SECONDS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
_MOST_TICKS: Final = 8

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from values to pixels; values outside of its range are clamped to its ends."""

    from_value: float
    to_value: float
    from_pixel: float
    to_pixel: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        span = (self.to_value - self.from_value) or 1.0
        share = min(1.0, max(0.0, (value - self.from_value) / span))
        return round(self.from_pixel + share * (self.to_pixel - self.from_pixel), 1)


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis with its label."""

    at: float
    label: str


def time_ticks(x: Scale) -> list[Tick]:
    """Return at most eight ticks at round times."""
    span = x.to_value - x.from_value
    step = next((s for s in _STEPS_SECONDS if span / s <= _MOST_TICKS), _STEPS_SECONDS[-1])
    while span / step > _MOST_TICKS:
        step *= 2
    marks = [x.from_value + index * step for index in range(int(span // step) + 1)]
    return [Tick(x(at), format_seconds(at)) for at in marks]


def steps(points: Sequence[Point], until: float) -> list[Point]:
    """Return the corners of a line on which each point's height holds until the next one's."""
    corners: list[Point] = []
    ends = [at for at, _ in points[1:]] + [until]
    for (at, height), end in zip(points, ends, strict=True):
        corners += [(at, height), (end, height)]
    return corners


def area(tops: Sequence[Point], bottoms: Sequence[Point], until: float) -> str:
    """Return the path of the area between two such lines."""
    edge = [*steps(tops, until), *reversed(steps(bottoms, until))]
    return f"{line(edge)}Z"


def line(points: Iterable[Point]) -> str:
    """Return the path through points."""
    places = (f"{x:g},{y:g}" for x, y in points)
    return "M" + "L".join(places)
