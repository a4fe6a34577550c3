"""The lanes of a chart: pods by state, the clocks of an attempt, the values of a check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from gate.core.frozen import dataclass
from gate.duration import format_seconds
from gate.report.html.scale import Point, Scale, Tick, area, line, steps
from gate.report.schema.course import (
    CheckHistory,
    CheckSample,
    LegResult,
    PodCounts,
    PodHistory,
    PodSample,
)

STATES: Final = ("ready", "starting", "failing", "terminating")
"""From the bottom up."""
_PODS_HEIGHT: Final = 78
_CLOCKS_HEIGHT: Final = 56
_CHECK_HEIGHT: Final = 64
_MARGIN_SHARE: Final = 0.15
_GROUND_SHARE: Final = 0.3
"""Values that vary by less than this share of the highest are shown on a scale without 0."""

Version = Literal["new", "old", "all"]
"""Whose pods a lane shows."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A path of one kind; the kind chooses its colours."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One measurement."""

    kind: str
    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One strip of a chart; `top` and all places are pixels of the drawing."""

    title: str
    notes: tuple[str, ...]
    top: float
    height: float
    areas: tuple[Shape, ...] = ()
    lines: tuple[Shape, ...] = ()
    dots: tuple[Dot, ...] = ()
    ticks: tuple[Tick, ...] = ()

    @property
    def bottom(self) -> float:
        """Where the lane ends."""
        return self.top + self.height


def pod_lane(history: PodHistory, version: Version, x: Scale, top: float, most: int) -> Lane:
    """Return the pods of a version, or all, by state, stacked; `most` is the height in pods."""
    samples = history["samples"]
    y = Scale(0, most, top + _PODS_HEIGHT, top)
    wanted = steps([(x(s["at_seconds"]), y(s["wanted"])) for s in samples], x.to_pixel)
    return Lane(
        "pods" if version == "all" else f"{version} version",
        (),
        top,
        _PODS_HEIGHT,
        areas=tuple(_stack_areas(samples, version, x, y)),
        lines=(Shape("wanted", line(wanted)),),
        ticks=(Tick(y(0), "0"), Tick(y(most), str(most))),
    )


def _stack_areas(
    samples: Sequence[PodSample], version: Version, x: Scale, y: Scale
) -> Iterator[Shape]:
    below = [0] * len(samples)
    for state in STATES:
        counts = [_count(sample, version, state) for sample in samples]
        above = [under + count for under, count in zip(below, counts, strict=True)]
        if any(counts):
            places = [x(sample["at_seconds"]) for sample in samples]
            tops, bottoms = (
                [(at, y(height)) for at, height in zip(places, heights, strict=True)]
                for heights in (above, below)
            )
            yield Shape(state, area(tops, bottoms, x.to_pixel))
        below = above


def _count(sample: PodSample, version: Version, state: str) -> int:
    new, old = _by_state(sample["new"])[state], _by_state(sample["old"])[state]
    return {"new": new, "old": old, "all": new + old}[version]


def _by_state(counts: PodCounts) -> dict[str, int]:
    return {
        "ready": counts["ready"],
        "starting": counts["starting"],
        "failing": counts["failing"],
        "terminating": counts["terminating"],
    }


def has_pods(history: PodHistory) -> bool:
    """Tell whether any pod was seen."""
    return any(sum(_all(one, "all")) for one in history["samples"])


def most_pods(history: PodHistory, versions: Sequence[Version]) -> int:
    """Return the most pods that one of the lanes has to show, or that were wanted."""
    counts = [
        max(sample["wanted"], *(sum(_all(sample, version)) for version in versions))
        for sample in history["samples"]
    ]
    return max(1, *counts) if counts else 1


def _all(sample: PodSample, version: Version) -> list[int]:
    return [_count(sample, version, state) for state in STATES]


# -- clocks ----------------------------------------------------------------------------------------


def clock_lane(history: PodHistory, x: Scale, top: float) -> Lane:
    """Return both clocks as shares of their limits; at the top of the lane a limit is reached."""
    y = Scale(0, 1, top + _CLOCKS_HEIGHT, top)
    legs = _legs(history["legs"], x.to_value)
    silence = [*_silence(history["samples"], legs, x.to_value)]
    lines = [Shape("total", line([(x(start), y(0)), (x(end), y(share))]))
             for start, end, share in _totals(legs)]  # fmt: skip
    lines += [
        Shape("silence", line([(x(start), y(low)), (x(end), y(high))]))
        for start, end, low, high in silence
    ]
    return Lane(
        "clocks",
        (*_limits(history["legs"]),),
        top,
        _CLOCKS_HEIGHT,
        lines=tuple(lines),
        ticks=(Tick(y(0), "0"), Tick(y(1), "limit")),
    )


_Leg = tuple[float, float, LegResult]


def _legs(legs: Sequence[LegResult], until: float) -> list[_Leg]:
    """Return each leg with its start and its end."""
    ends = [leg["at_seconds"] for leg in legs[1:]] + [until]
    return [(leg["at_seconds"], end, leg) for leg, end in zip(legs, ends, strict=False)]


def _totals(legs: Iterable[_Leg]) -> Iterator[tuple[float, float, float]]:
    for start, end, leg in legs:
        if leg["total_seconds"]:
            yield start, end, (end - start) / leg["total_seconds"]


def _silence(
    samples: Sequence[PodSample], legs: Sequence[_Leg], until: float
) -> Iterator[tuple[float, float, float, float]]:
    """Yield the times without progress: start, end, and the share of the deadline at both."""
    ends = [sample["at_seconds"] for sample in samples[1:]] + [until]
    for sample, end in zip(samples, ends, strict=True):
        at, since = sample["at_seconds"], sample["progressed_at_seconds"]
        deadline = next(
            (leg["progress_deadline_seconds"] for start, over, leg in legs if start <= at < over),
            None,
        )
        if since is not None and deadline:
            yield at, end, (at - since) / deadline, (end - since) / deadline


def _limits(legs: Sequence[LegResult]) -> Iterator[str]:
    for leg in legs[:1]:
        if leg["progress_deadline_seconds"]:
            yield f"no progress: {format_seconds(leg['progress_deadline_seconds'])}"
        if leg["total_seconds"]:
            yield f"total: {format_seconds(leg['total_seconds'])}"


# -- checks ----------------------------------------------------------------------------------------


def check_lane(history: CheckHistory, x: Scale, top: float) -> Lane:
    """Return a check's values with its bounds; what has no value is drawn at the bottom."""
    y = _value_scale(history, top)
    least, most = history["least"], history["most"]
    bounds = [(label, bound) for label, bound in (("at least", least), ("at most", most))
              if bound is not None]  # fmt: skip
    edges = (x.from_pixel, x.to_pixel)
    top_of_good = y(most if most is not None else y.to_value)
    good = (top_of_good, y(least if least is not None else y.from_value))
    known = [(s["at_seconds"], s["value"]) for s in history["samples"]]
    path = [(x(at), y(value)) for at, value in known if value is not None]
    return Lane(
        history["name"],
        tuple(f"{label} {bound:g}" for label, bound in bounds),
        top,
        _CHECK_HEIGHT,
        areas=(Shape("bounds", _box(edges, good)),) if bounds else (),
        lines=(
            *(Shape("bound", line([(edges[0], y(b)), (edges[1], y(b))])) for _, b in bounds),
            *([Shape("value", line(path))] if len(path) > 1 else []),
        ),
        dots=tuple(_dot(sample, x, y) for sample in history["samples"]),
        ticks=tuple(Tick(y(bound), f"{bound:g}") for _, bound in bounds),
    )


def _value_scale(history: CheckHistory, top: float) -> Scale:
    """Return a scale that has room for all values and bounds, with a margin at the ends."""
    values = [sample["value"] for sample in history["samples"]]
    known = [value for value in (*values, history["least"], history["most"]) if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    air = ((high - low) or abs(high) or 1.0) * _MARGIN_SHARE
    from_ground = low >= 0 and high - low >= _GROUND_SHARE * high
    return Scale(0.0 if from_ground else low - air, high + air, top + _CHECK_HEIGHT, top)


def _box(edges: Point, heights: Point) -> str:
    (left, right), (top, bottom) = edges, heights
    return line([(left, top), (right, top), (right, bottom), (left, bottom)]) + "Z"


def _dot(sample: CheckSample, x: Scale, y: Scale) -> Dot:
    value = sample["value"]
    at = format_seconds(sample["at_seconds"])
    said = sample["verdict"] if value is None else f"{value:g}, {sample['verdict']}"
    height = y(value) if value is not None else y.from_pixel
    return Dot(sample["verdict"], x(sample["at_seconds"]), height, f"{said} at {at}")
