"""The keys of a check in a file: one model for each source; other keys are refused.

A key that is left out is None here; its default is in `gate.core.checks.spec`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from gate.config.checks import values
from gate.config.checks.variables import parse_variables
from gate.core.model.body import FrozenMap


def spelt(name: str) -> str:
    """Return the key of a field: with hyphens, without a reserved word's trailing underscore."""
    return name.rstrip("_").replace("_", "-")


class Keys(BaseModel):
    """Abstract: a mapping of a file, whose keys are spelt as those of the options."""

    # Most runs read no check from a file: each validator is built when it is first used.
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=spelt, defer_build=True)


def key(about: str, **more: Any) -> Any:
    """Return the declaration of a key that may be left out."""
    return Field(default=None, description=about, **more)


class CheckKeys(Keys):
    """Abstract: what every check can say."""

    interval: values.Interval = key("from one measurement to the next")
    initial_delay: values.Delay = key("how long to wait before the first")
    count: values.OneOrMore = key("how many measurements; as many as the phase is long")
    during: values.Phases = key("the phases in which it runs")
    allowed_failures: values.ZeroOrMore = key("more failures than that fail it")
    consecutive_failures: values.OneOrMore = key("instead: so many failures in a row fail it")
    allowed_consecutive_errors: values.ZeroOrMore = key(
        "more errors in a row than that at its end make it inconclusive"
    )
    allowed_no_data: values.ZeroOrMore = key(
        "more measurements without data than that make it inconclusive"
    )
    min_passes: values.OneOrMore = key("how many passes it needs")
    max_age: values.LimitIfSaid = key("how old its last pass, and its newest sample, may be")
    required: values.Switch = key("false: it reports and never decides")
    dry_run: values.Switch = key("true: it reports and never decides")
    deployment: values.DeploymentName = key("the Deployment that it is about, of several")


class MinSamplesKeys(Keys):
    """How much evidence a value needs."""

    query: values.QueryText = Field(description="what counts the samples")
    least: values.Least = Field(alias="min", description="how many there have to be")


class ChangedMinSamplesKeys(Keys):
    """The same for a ready-made check, which has a query."""

    query: values.TextIfSaid = key("what counts the samples")
    least: values.LeastIfSaid = key("how many there have to be", alias="min")


class CompareKeys(Keys):
    """New against old: by ratio, or by a test over the samples of a phase."""

    max_ratio: values.Factor = key("new may be so many times old")
    min_delta: values.Delta = key("and beyond that by so much")
    test: values.Test = key("the test over both samples")
    alpha: values.Alpha = key("the probability at which the test rejects")
    tolerance: values.Delta = key("the shift that is borne, as a share of the old median")


class HttpQuestionKeys(Keys):
    """A request, and what a good reply is."""

    url: values.ServiceUrl = Field(description="what is asked for")
    method: values.Method = key("how")
    status: values.Status = key("a good status, or a range of them")
    max_latency: values.LimitIfSaid = key("how long a good reply may take")
    contains: values.TextIfSaid = key("what its body holds")
    json_path: values.PathInJson = key("where in its body a number stands")
    least: values.Number = key("the least that the number may be", alias="min")
    most: values.Number = key("the most that the number may be", alias="max")
    redirects: values.Redirects = key("how many redirects are followed")
    timeout: values.LimitIfSaid = key("how long a reply is waited for")


class MetricKeys(CheckKeys):
    """Abstract: what qualifies the answer to a query."""

    least: values.Number = key("the least that a good value may be", alias="min")
    most: values.Number = key("the most that a good value may be", alias="max")
    reduce: values.Reduction = key("how several series become one measurement")
    window: values.Interval = key("the most that ${window} is")
    freshness: values.TextIfSaid = key("series whose newest sample must not be older than max-age")
    compare: Annotated[CompareKeys | None, values.NOT_NULL] = key(
        "the new version against the one that served before"
    )
    variables: Annotated[
        FrozenMap[str, str] | None,
        values.by(parse_variables),
        WithJsonSchema(values.VARIABLES_SCHEMA),
    ] = key("more variables for the queries")


class QueryKeys(MetricKeys):
    """A check by a query of one's own."""

    name: values.Name = Field(description="what the check is called")
    query: values.QueryText = Field(description="PromQL, in which ${variables} can stand")
    min_samples: Annotated[MinSamplesKeys | None, values.NOT_NULL] = key(
        "how much evidence a value needs"
    )


class ReadyMadeKeys(MetricKeys):
    """A ready-made check; what is said here wins over what it says."""

    use: values.ReadyMadeName = Field(description="a ready-made check")
    metrics: values.MetricsKind = key("whose metrics it asks for")
    name: values.NameIfSaid = key("what the check is called; as the ready-made one")
    min_samples: Annotated[ChangedMinSamplesKeys | None, values.NOT_NULL] = key(
        "how much evidence a value needs"
    )


class HttpKeys(CheckKeys):
    """A check by a request."""

    name: values.Name = Field(description="what the check is called")
    http: Annotated[HttpQuestionKeys, values.NOT_NULL] = Field(
        description="the request, and what a good reply is"
    )


class CommandKeys(CheckKeys):
    """A check by a program."""

    name: values.Name = Field(description="what the check is called")
    command: values.Words = Field(description="the program and its arguments; there is no shell")
    timeout: values.LimitIfSaid = key("how long it may run")


FORMS: Final[Mapping[str, type[CheckKeys]]] = {
    "query": QueryKeys,
    "http": HttpKeys,
    "command": CommandKeys,
    "use": ReadyMadeKeys,
}
"""The model of each source of checks, by the key that names the source."""


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys of a mapping, in the order of declaration."""
    return tuple(field.alias or spelt(name) for name, field in model.model_fields.items())
