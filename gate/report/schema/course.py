"""The shapes of how a run went over time: its timeline, pods and measurements, for a chart.

Times are seconds since the start of the run.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from gate.report.schema.check_verdict import CountedResult

Leg = Literal["forward", "back"]
Measured = Literal["pass", "fail", "no-data", "error"]
Seconds = Annotated[float, Meta(description="Seconds, to the millisecond.")]


class TimelineEntry(TypedDict):
    """One line of what happened."""

    at_seconds: Annotated[Seconds, Meta(description="Since the start.")]
    event: str
    message: str


class PodCounts(TypedDict):
    """Pods of one version by their state."""

    ready: int
    starting: int
    failing: int
    terminating: int


class PodSample(TypedDict):
    """The pods of a workload from one moment on, until the next sample."""

    at_seconds: Annotated[Seconds, Meta(description="Since the start.")]
    wanted: Annotated[int, Meta(description="`spec.replicas`.")]
    new: PodCounts
    old: Annotated[PodCounts, Meta(description="All other versions.")]
    progressed_at_seconds: Annotated[
        float | None,
        Meta(description="Since when the clock of no progress runs; null where it stands."),
    ]


class LegResult(TypedDict):
    """The budgets of the way out or the way back of one workload."""

    leg: Leg
    at_seconds: Annotated[Seconds, Meta(description="When its total began, since the start.")]
    total_seconds: Annotated[float | None, Meta(description="null where it is not bounded.")]
    progress_deadline_seconds: Annotated[int | None, Meta(description="null where there is none.")]


class PodHistory(TypedDict):
    """The pods of one workload over time."""

    kind: Annotated[str, Meta(description="Of the workload.")]
    namespace: str
    name: str
    legs: list[LegResult]
    samples: Annotated[list[PodSample], Meta(description="At most 120, in the order of time.")]


class CheckSample(TypedDict):
    """One measurement of a check."""

    at_seconds: Annotated[Seconds, Meta(description="Since the start.")]
    verdict: Measured
    value: Annotated[float | None, Meta(description="null where there is no one finite number.")]


class ComparisonSample(TypedDict):
    """What a comparison by counts had found up to one look."""

    at_seconds: Annotated[Seconds, Meta(description="Since the start.")]
    new: CountedResult
    old: CountedResult
    ratio: Annotated[
        float | None, Meta(description="null where the old version had no bad event, or no events.")
    ]
    low: Annotated[float, Meta(description="The lower end of the ratio's interval at that time.")]
    high: Annotated[float | None, Meta(description="Its upper end, null where there is none.")]


class ComparisonHistory(TypedDict):
    """A comparison by counts over time, and the ratios by which it decides."""

    tolerated: Annotated[float, Meta(description="It fails once `low` is above that.")]
    harm: Annotated[float, Meta(description="It passes once `high` is below that.")]
    negligible: Annotated[
        float,
        Meta(description="It also passes once the new rate is shown to be below that; 0: never."),
    ]
    decided_at_seconds: Annotated[
        float | None,
        Meta(
            description="When it failed or, if it did not, first passed, since the start; null if"
            " neither."
        ),
    ]
    samples: Annotated[
        list[ComparisonSample], Meta(description="At most 120, in the order of time.")
    ]


class CheckHistory(TypedDict):
    """The measurements of one check over time; a bound that is null is none."""

    name: str
    least: float | None
    most: float | None
    samples: Annotated[list[CheckSample], Meta(description="At most 120, in the order of time.")]
    comparison: Annotated[
        ComparisonHistory | None, Meta(description="null for every other check, and before a look.")
    ]


class History(TypedDict):
    """How it went, for a chart."""

    pods: list[PodHistory]
    checks: list[CheckHistory]
