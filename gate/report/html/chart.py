"""The chart of a rollout: lanes over one axis of time, and the moments that mattered in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final

from gate.core.frozen import dataclass
from gate.duration import format_seconds
from gate.report.html.lanes import (
    Lane,
    Version,
    check_lane,
    clock_lane,
    has_pods,
    most_pods,
    pod_lane,
)
from gate.report.html.scale import Scale, Tick, time_ticks
from gate.report.kinds import registry
from gate.report.schema.course import CheckHistory, PodHistory
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.grade import Grade, result_grade
from gate.report.words.half_applied import is_unwritten, keeps_version
from gate.report.words.unfinished import is_in_doubt
from gate.report.words.worst import rank_workloads

WIDTH: Final = 960
LEFT: Final = 168
RIGHT: Final = 20
MOST_CHARTS: Final = 6
MOST_CHECKS: Final = 12
_GAP: Final = 18
_AXIS: Final = 26
_ROW: Final = 17
_MOST_ROWS: Final = 3
_CHARACTER: Final = 6.4
"""The widest that a character of a label usually is, in pixels."""
_EVENTS: Final = {
    "applied": "applied",
    "failed": "failed",
    "superseded": "superseded",
    "signal": "signal",
    "contact": "no contact",
}
"""For each of these kinds, the first line of the timeline is marked."""

Place = Callable[[float], Lane]


@dataclass(frozen=True, slots=True)
class Mark:
    """One moment across all lanes; `row` is the line of its label, counted from the top."""

    x: float
    label: str
    kind: str
    row: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing; `title` and `caption` say in words what it shows.

    `states` is whether it shows pods, `measured` whether it shows measurements.
    """

    title: str
    caption: str
    height: float
    top: float
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    states: bool
    measured: bool

    @property
    def bottom(self) -> float:
        """Where the axis of time is."""
        return self.lanes[-1].bottom if self.lanes else self.top


def charts(result: Result) -> list[Chart]:
    """Return a chart of each workload in the order of a report, the first with the checks.

    What was not written, and has no pod, has none.

    Comparisons by counts have a plot of their own.
    """
    ranked = rank_workloads(result)
    places = {_place(one): number for number, one in enumerate(ranked)}
    unwritten = [_place(one) for one in ranked if is_unwritten(one)]
    pods = [each for each in result["history"]["pods"] if each["samples"]]
    pods = [each for each in pods if _place(each) not in unwritten or has_pods(each)]
    pods.sort(key=lambda each: places.get(_place(each), len(places)))
    measured = [each for each in result["history"]["checks"] if each["samples"]]
    checks = [each for each in measured if each["comparison"] is None][:MOST_CHECKS]
    found = [
        _chart(result, each, checks if index == 0 else [])
        for index, each in enumerate(pods[:MOST_CHARTS])
    ]
    return found or ([_chart(result, None, checks)] if checks else [])


def _place(one: WorkloadResult | PodHistory) -> tuple[str, ...]:
    return one["kind"], one["namespace"], one["name"]


def _chart(result: Result, pods: PodHistory | None, checks: Sequence[CheckHistory]) -> Chart:
    x = Scale(0.0, max(1.0, result["duration_seconds"]), LEFT, WIDTH - RIGHT)
    marks = _marks(result, x)
    top = _ROW * (1 + max((mark.row for mark in marks), default=0)) + 10.0
    lanes: list[Lane] = []
    versions = _list_versions(result, pods) if pods is not None else ()
    for place in _places(pods, versions, checks, x):
        lanes.append(place(lanes[-1].bottom + _GAP if lanes else top))
    bottom = lanes[-1].bottom if lanes else top
    title = registry.of_entry(pods).call(pods["name"]) if pods is not None else "checks"
    return Chart(
        f"{title} over time",
        _describe_drawing(result, pods, versions, marks),
        bottom + _AXIS,
        top,
        tuple(lanes),
        tuple(marks),
        tuple(time_ticks(x)),
        pods is not None,
        bool(checks),
    )


def _list_versions(result: Result, pods: PodHistory) -> tuple[Version, ...]:
    """Return whose pods have a lane each: where there is one version, all of them have one."""
    places = (_place(one) for one in result["workloads"] if keeps_version(result, one))
    has_one = registry.of_entry(pods).runs_once or _place(pods) in places
    return ("all",) if has_one else ("new", "old")


def _places(
    pods: PodHistory | None, versions: Sequence[Version], checks: Sequence[CheckHistory], x: Scale
) -> Iterator[Place]:
    """Yield a function for each lane, which draws it from a given top on."""
    if pods is not None:
        most = most_pods(pods, versions)
        for version in versions:
            yield lambda top, version=version: pod_lane(  # type: ignore[misc]
                pods, version, x, top, most
            )
        yield lambda top: clock_lane(pods, x, top)
    for check in checks:
        yield lambda top, check=check: check_lane(check, x, top)  # type: ignore[misc]


def _marks(result: Result, x: Scale) -> list[Mark]:
    """Return the moments in the order of time; no label covers another if there is room."""
    ends = [0.0] * _MOST_ROWS
    marks: list[Mark] = []
    for at, label, kind in sorted(_moments(result)):
        text, place = f"{label} {format_seconds(at)}", x(at)
        width = _CHARACTER * len(text)
        before = place + width > WIDTH
        start = place - width if before else place
        row = next((n for n, end in enumerate(ends) if start > end), _MOST_ROWS - 1)
        ends[row] = start + width + 8
        marks.append(Mark(place, text, kind, row, "end" if before else "start"))
    return marks


def _moments(result: Result) -> Iterator[tuple[float, str, str]]:
    events: set[str] = set()
    for line in result["timeline"]:
        event = line["event"]
        if event in _EVENTS and event not in events:
            events.add(event)
            yield line["at_seconds"], _EVENTS[event], "good" if event == "applied" else "bad"
    written = _rollback_seconds(result)
    if written is not None and not is_in_doubt(result):
        yield written, "rollback written", "back"
    kind = "good" if result_grade(result) is Grade.GOOD else "end"
    yield result["duration_seconds"], result["outcome"], kind


def _rollback_seconds(result: Result) -> float | None:
    """Return when the rollback's first write was, in seconds of the run; None if there was none."""
    rollback = result["rollback"]
    try:
        started = datetime.fromisoformat(result["started_at"])
        written = datetime.fromisoformat(rollback["written_at"]) if rollback is not None else None
    except ValueError:
        return None
    if written is None or (written.tzinfo is None) != (started.tzinfo is None):
        return None
    return max(0.0, (written - started).total_seconds())


def _describe_drawing(
    result: Result, pods: PodHistory | None, versions: Sequence[Version], marks: Sequence[Mark]
) -> str:
    """Say what the drawing shows, for those who do not see it."""
    moments = "; ".join(mark.label for mark in marks)
    if pods is None:
        return moments
    last = pods["samples"][-1]
    new, old = last["new"]["ready"], last["old"]["ready"]
    ready = f"{new} of the new version, {old} of older ones"
    if "all" in versions:
        ready = f"{new + old}"
    took = format_seconds(result["duration_seconds"])
    return f"{moments}. At the end, after {took}: pods wanted {last['wanted']}, ready {ready}."
