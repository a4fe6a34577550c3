"""The plot of a comparison by counts: the ratio of the two rates, and its interval, over time.

Its scale is logarithmic: twice and half as bad are equally far from 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from gate.core.frozen import dataclass
from gate.duration import format_seconds
from gate.report.html.chart import LEFT, RIGHT, WIDTH
from gate.report.html.scale import Point, Scale, Tick, line, time_ticks
from gate.report.schema.check_verdict import CheckResult, ComparisonResult
from gate.report.schema.course import CheckHistory, ComparisonHistory, ComparisonSample
from gate.report.schema.result import Result
from gate.report.words.comparison import counted_words, detectable_words, ratio_words

TOP: Final = 24.0
_HEIGHT: Final = 190.0
_AXIS: Final = 26.0
_LABEL_GAP: Final = 13.0
_LEAST_RATIO: Final = 1 / 32
_MOST_RATIO: Final = 64.0
_MOST_HARM: Final = 1e4
"""The scale reaches harm, unless somebody else wrote the document."""
_ROUNDING: Final = 1 + 1e-9
_ROOM: Final = 1.3
"""So much farther than what has to be seen the scale goes, as a factor."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A ratio that matters, as a line across; `label_at` is where its words stand."""

    kind: str
    at: float
    label: str
    label_at: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The moment at which the check was decided."""

    x: float
    label: str
    kind: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Curve:
    """The estimates over time and the band around them, as paths of SVG.

    `interval` is that of the band's area, `ends` those of its two edges, `ratio` that of the
    estimates, empty for a single one; `dots` are the estimates themselves.
    """

    interval: str
    ends: tuple[str, str]
    ratio: str
    dots: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class ComparisonPlot:
    """A drawing; `caption` says in words what it shows, `figures` what was found in the end.

    `scale` are ratios between the `rules`, `ticks` times.
    """

    title: str
    caption: str
    figures: tuple[str, ...]
    curve: Curve
    rules: tuple[Rule, ...]
    scale: tuple[Tick, ...]
    ticks: tuple[Tick, ...]
    decision: Decision | None

    @property
    def bottom(self) -> float:
        """Where the axis of time is."""
        return TOP + _HEIGHT

    @property
    def height(self) -> float:
        """The height of the whole drawing."""
        return self.bottom + _AXIS


def comparison_plots(result: Result) -> list[ComparisonPlot]:
    """Return a plot of each comparison by counts that has looked at all."""
    rows = {row["name"]: row for row in result["checks"]}
    return [
        _plot(history, history["comparison"], row, row["comparison"])
        for history in result["history"]["checks"]
        if history["comparison"] is not None and history["comparison"]["samples"]
        if (row := rows.get(history["name"])) is not None and row["comparison"] is not None
    ]


def _plot(
    history: CheckHistory, course: ComparisonHistory, row: CheckResult, end: ComparisonResult
) -> ComparisonPlot:
    samples = course["samples"]
    x = Scale(0.0, max(1.0, samples[-1]["at_seconds"]), LEFT, WIDTH - RIGHT)
    y = _RatioScale.of(course)
    rules = tuple(_rules(course, y))
    return ComparisonPlot(
        f"{history['name']}: new against old",
        _describe(course, row, end),
        (_decided_words(course, row, end), *_figures(end)),
        _curve(samples, x, y),
        rules,
        tuple(_scale_ticks(rules, y)),
        tuple(time_ticks(x)),
        _decision(course, row, x),
    )


@dataclass(frozen=True, slots=True)
class _RatioScale:
    """Ratios to pixels; one that is None is infinite, and all are clamped to the ends."""

    logs: Scale

    @classmethod
    def of(cls, course: ComparisonHistory) -> _RatioScale:
        """Return a scale with room for the estimates, the last interval and the ratios to decide.

        Early intervals are wide: they go beyond it.
        """
        samples = course["samples"]
        seen = [sample["ratio"] for sample in samples[len(samples) // 4 :] if sample["ratio"]]
        last = samples[-1]
        seen += [end for end in (last["low"], last["high"]) if end]
        low = min(0.5, *(value / _ROOM for value in seen), 1 / _ROOM)
        harm = min(course["harm"], _MOST_HARM) * _ROOM
        high = max(harm, *(value * _ROOM for value in seen), 1.0)
        ends = max(low, _LEAST_RATIO), min(high, max(_MOST_RATIO, harm))
        return cls(Scale(math.log2(ends[0]), math.log2(ends[1]), TOP + _HEIGHT, TOP))

    def __call__(self, ratio: float | None) -> float:
        """Return the pixel of a ratio."""
        if ratio is None:
            return self.logs.to_pixel
        return self.logs(math.log2(ratio)) if ratio > 0 else self.logs.from_pixel


def _curve(samples: Sequence[ComparisonSample], x: Scale, y: _RatioScale) -> Curve:
    times = [x(sample["at_seconds"]) for sample in samples]
    lows = [(at, y(sample["low"])) for at, sample in zip(times, samples, strict=True)]
    highs = [(at, y(sample["high"])) for at, sample in zip(times, samples, strict=True)]
    dots = tuple(
        (at, y(sample["ratio"]))
        for at, sample in zip(times, samples, strict=True)
        if sample["ratio"] is not None
    )
    return Curve(
        f"{line([*highs, *reversed(lows)])}Z",
        (line(lows), line(highs)),
        line(dots) if len(dots) > 1 else "",
        dots,
    )


def _rules(course: ComparisonHistory, y: _RatioScale) -> Iterator[Rule]:
    """Yield the ratios that matter from the bottom up; no label covers another."""
    found = [("same", 1.0, "as before"), ("harm", course["harm"], "harm")]
    if course["tolerated"] > 1:
        found.insert(1, ("tolerated", course["tolerated"], "tolerated"))
    label_at = math.inf
    for kind, ratio, word in found:
        label_at = min(y(ratio) + 4, label_at - _LABEL_GAP)
        yield Rule(kind, y(ratio), f"{word} {ratio:g}", label_at)


def _scale_ticks(rules: Sequence[Rule], y: _RatioScale) -> Iterator[Tick]:
    """Yield the powers of two whose labels stand free of those of the rules."""
    first, last = math.ceil(y.logs.from_value), math.floor(y.logs.to_value)
    for power in range(first, last + 1):
        at = y(2.0**power)
        if all(abs(at + 4 - rule.label_at) >= _LABEL_GAP for rule in rules):
            yield Tick(at, f"{2.0**power:g}")


def _decision(course: ComparisonHistory, row: CheckResult, x: Scale) -> Decision | None:
    at = course["decided_at_seconds"]
    if at is None:
        return None
    failed = row["verdict"] == "fail"
    place = x(at)
    label = f"{'failed' if failed else 'passed'} {format_seconds(at)}"
    anchor = "end" if place > (LEFT + WIDTH - RIGHT) / 2 else "start"
    return Decision(place, label, "bad" if failed else "good", anchor)


def _describe(course: ComparisonHistory, row: CheckResult, end: ComparisonResult) -> str:
    """Say what the drawing shows, for those who do not see it."""
    last = format_seconds(course["samples"][-1]["at_seconds"])
    figures = ", ".join(_figures(end))
    return f"{_decided_words(course, row, end)}. At the last look, after {last}: {figures}."


def _figures(end: ComparisonResult) -> tuple[str, ...]:
    return counted_words(end), ratio_words(end), detectable_words(end)


def _decided_words(course: ComparisonHistory, row: CheckResult, end: ComparisonResult) -> str:
    """Return when and why the check was decided, or why it was not."""
    at = course["decided_at_seconds"]
    if at is None:
        return ": ".join(filter(None, ("not decided", end["why_undecided"])))
    after = format_seconds(at)
    if row["verdict"] == "fail":
        return f"failed after {after}: more than {course['tolerated']:g} times the old rate"
    looks = [sample for sample in course["samples"] if sample["at_seconds"] <= at]
    high = looks[-1]["high"] if looks else None
    if high is not None and high <= course["harm"] * _ROUNDING:
        return f"passed after {after}: less than {course['harm']:g} times the old rate"
    return (
        f"passed after {after}: the new rate is negligible, below {course['negligible'] * 100:g} %"
    )
