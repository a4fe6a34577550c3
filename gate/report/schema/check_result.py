"""The shape of the document that `checks` prints, `rollout-gate/checks/v1`.

Every key is always there; text that is not known is "", a number that is not known null.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypedDict

from msgspec import Meta

from gate.core.checks.measurement import Kind
from gate.report.schema.power_result import PowerResult
from gate.report.schema.result import Time

SCHEMA: Final = "rollout-gate/checks/v1"

Role = Literal["value", "min-samples", "freshness", "baseline"]
Source = Literal["prometheus", "http", "command"]


class SeriesResult(TypedDict):
    """One series of an answer."""

    labels: Annotated[str, Meta(description="The label set as PromQL writes it.")]
    value: Annotated[str, Meta(description="As PromQL writes it: `0.5`, `NaN`, `+Inf`.")]


class QuestionResult(TypedDict):
    """One question of a check, with the values of its variables, and what came back."""

    role: Role
    text: Annotated[str, Meta(description="The query, the request or the command.")]
    answer: Annotated[str, Meta(description='One line; "" where there was none.')]
    series: Annotated[list[SeriesResult], Meta(description="At most 10.")]
    series_count: int
    remarks: Annotated[list[str], Meta(description="Why the server calls it partial.")]


class RuleResult(TypedDict):
    """One rule on the way from the answers to the verdict, and what it made of them."""

    rule: str
    says: str


class PlaceResult(TypedDict):
    """Where in a query the server found a mistake."""

    role: Role
    line: int
    column: Annotated[int, Meta(description="From 1, as the server counts it.")]


class AskedCheckResult(TypedDict):
    """One check, asked once."""

    name: str
    source: Source
    about: Annotated[str, Meta(description='`deployment/NAME`, "" for no single one.')]
    decides: Annotated[bool, Meta(description="False where it only reports.")]
    verdict: Kind
    message: str
    hint: str
    value: Annotated[float | None, Meta(description="null where there is no one finite number.")]
    baseline: Annotated[float | None, Meta(description="The other version's, if it compares.")]
    bounds: Annotated[str, Meta(description="As in `<= 0.5`.")]
    questions: list[QuestionResult]
    rules: list[RuleResult]
    mistake: PlaceResult | None


class ChecksResult(TypedDict):
    """What every check says of what runs now."""

    schema: Literal["rollout-gate/checks/v1"]
    version: Annotated[str, Meta(description="Of rollout-gate.")]
    asked_at: Time
    exit_code: Annotated[int, Meta(ge=0, le=255)]
    message: Annotated[str, Meta(description="One line for people.")]
    checks: Annotated[
        list[AskedCheckResult],
        Meta(description="With --power, those whose traffic could not be asked for."),
    ]
    power: Annotated[list[PowerResult], Meta(description="Empty without --power.")]
