"""The shape of a health check in the result document: how it ended, and what it compared."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta


class CountedResult(TypedDict):
    """What one version counted since the phase began."""

    bad: float
    total: float


class ComparedResult(TypedDict):
    """What both versions counted in looks that saw both."""

    new: CountedResult
    old: CountedResult


class ComparisonResult(TypedDict):
    """What a comparison by counts says of the new rate of bad events as a ratio to the old one."""

    new: CountedResult
    old: CountedResult
    compared: Annotated[
        ComparedResult | None,
        Meta(description="What the ratio and its interval are of; null in an older document."),
    ]
    baseline: Annotated[
        Literal["all", "fresh"],
        Meta(description="Which pods of the old version: all, or those started with new ones."),
    ]
    fresh_pods: Annotated[
        list[str], Meta(description="The fresh pods that were compared with; else empty.")
    ]
    ratio: Annotated[
        float | None, Meta(description="null where the old version had no bad event, or no events.")
    ]
    low: Annotated[float, Meta(description="The lower end of the ratio's interval at that time.")]
    high: Annotated[float | None, Meta(description="Its upper end, null where there is none.")]
    detectable: Annotated[
        float | None,
        Meta(
            description="The least true ratio that this traffic would have failed four times in"
            " five, null where it could have shown none."
        ),
    ]
    shared_seconds: Annotated[
        float | None, Meta(description="For how long both served; null in an older document.")
    ]
    enough_seconds: Annotated[
        float | None,
        Meta(
            description="For how long both would have to serve, with such traffic, until a rate"
            " twice as bad fails four times in five; null where the counts do not tell."
        ),
    ]
    why_undecided: Annotated[
        str, Meta(description='Why nothing was decided; "" where it was, and in an older document.')
    ]


class CheckResult(TypedDict):
    """How one health check ended."""

    name: str
    source: str
    verdict: str
    required: bool
    measurements: Annotated[int, Meta(description="Answers that were judged.")]
    failures: int
    errors: Annotated[
        int, Meta(description="Times that it was asked and gave no answer to judge, as exit 75.")
    ]
    last_value: float | None
    message: str
    output: Annotated[
        str,
        Meta(
            description="The last lines that its program printed, at most 20, if it did not pass;"
            " empty where that is no more than `message` has."
        ),
    ]
    comparison: Annotated[
        ComparisonResult | None, Meta(description="null for every other check, and before a look.")
    ]
