"""The shape of what a comparison by counts could show, in the document that `checks` prints."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

FigureOrigin = Literal["given", "measured"]


class MeasuredTrafficResult(TypedDict):
    """What the versions that serve have counted within the last hour."""

    versions: Annotated[list[str], Meta(description="The names of their revisions.")]
    bad: float
    total: float
    seconds: Annotated[float, Meta(description="How long of the hour one was seen.")]


class ExposureResult(TypedDict):
    """The parts of the traffic that both versions get."""

    new: float
    old: Annotated[float, Meta(description="0 in a rolling update: the parts move.")]
    origin: Literal["flag", "strategy", "rolling-update"]


class ChanceResult(TypedDict):
    """How a version with so many times the bad events would fare."""

    ratio: float
    failed: Annotated[
        float | None, Meta(description="A share of 1; null for a rate that would be above 1.")
    ]
    half_failed_after_seconds: Annotated[
        float | None, Meta(description="Since the phase began; null where fewer than half fail.")
    ]


class PowerResult(TypedDict):
    """What one comparison by counts could show. Shares are of 1, and simulated."""

    name: str
    about: Annotated[str, Meta(description='`deployment/NAME`, "" for no single one.')]
    decides: bool
    obstacle: Annotated[str, Meta(description='Why nothing could be compared, "" otherwise.')]
    way_out: Annotated[str, Meta(description="What would help then.")]
    traffic_per_second: Annotated[float, Meta(description="Of both versions together.")]
    traffic_origin: FigureOrigin
    rate: Annotated[float, Meta(description="The old version's share of bad events.")]
    rate_origin: FigureOrigin
    measured: MeasuredTrafficResult | None
    exposure: ExposureResult
    phase_seconds: float
    phase_origin: Literal["bake", "usual"]
    interval_seconds: float
    looks: int
    first_look_seconds: Annotated[
        float, Meta(description="When the first of them is, since the phase began.")
    ]
    tolerance: Annotated[
        float, Meta(description="How much worse may run on, as a share of the old rate.")
    ]
    alpha: Annotated[float, Meta(description="This check's part of it.")]
    chances: list[ChanceResult]
    equal_passes: Annotated[
        float | None, Meta(description="The share of equal versions that pass.")
    ]
    half_passed_after_seconds: float | None
    smallest_ratio: Annotated[
        float | None, Meta(description="That is found four times in five; null for none.")
    ]
    enough_phase_seconds: Annotated[
        float | None,
        Meta(description="What finds twice as bad four times in five; null for over an hour."),
    ]
    enough_traffic_per_second: Annotated[
        float | None, Meta(description="The same; null for over ten times as much.")
    ]
    rollouts: Annotated[int, Meta(description="So many were simulated for each ratio.")]
    error: Annotated[float, Meta(description="By so much a share may be off, with 95 %.")]
