"""The keys of a check: one model for each source, for a file and for flags; others are refused.

What is wrong with a check is said here alone: with one key by its type (`values`), with several by
`faults`, beside which stands the same rule for the JSON Schema. A key that is left out is None; its
default is in `gate.core.checks.spec`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gate.config.checks import values
from gate.config.checks.counters import why_no_counters
from gate.config.taking import BadValueError, Fault
from gate.core.checks.spec import Reduce
from gate.core.kinds.check_variables import OF_ONE_VERSION
from gate.core.statistics.count_decision import CountRule

JSON = dict[str, Any]


def spelt(name: str) -> str:
    """Return the key of a field: with hyphens, without a reserved word's trailing underscore."""
    return name.rstrip("_").replace("_", "-")


def without(*keys: str) -> JSON:
    """Return the schema of a mapping that has none of the keys."""
    return {"properties": dict.fromkeys(keys, False)}


class Keys(BaseModel):
    """Abstract: a mapping of a file, whose keys are spelt as those of the options."""

    # Most runs read no check from a file: each validator is built when it is first used.
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=spelt, defer_build=True)

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong with keys that do not go together, each at one of them."""
        yield from ()

    @model_validator(mode="after")
    def _refuse_faults(self) -> Self:
        if found := [*self.faults()]:
            raise BadValueError(found)
        return self


def key(about: str, **more: Any) -> Any:
    """Return the declaration of a key that may be left out."""
    return Field(default=None, description=about, **more)


_ABOUT_PODS: Final = "label matchers for the series of the new version's pods, instead of by name"

EITHER_TOLERANCE: Final[JSON] = {
    "not": {
        "required": ["allowed-failures", "consecutive-failures"],
        "properties": {"allowed-failures": {"minimum": 1}},
    }
}


class AnyCheckKeys(Keys):
    """Abstract: what every check can say."""

    interval: values.Interval = key("from one measurement to the next")
    during: values.Phases = key("the phases in which it runs")
    allowed_consecutive_errors: values.ZeroOrMore = key(
        "more errors in a row than that at its end make it inconclusive"
    )
    required: values.Switch = key("false: it reports and never decides")
    dry_run: values.Switch = key("true: it reports and never decides")
    deployment: values.DeploymentName = key(
        "the name of the workload that it is about, of several; of two kinds with one name as"
        " statefulset/db"
    )


class CheckKeys(AnyCheckKeys):
    """Abstract: what a check can say whose measurements are judged one by one."""

    model_config = ConfigDict(json_schema_extra={"allOf": [EITHER_TOLERANCE]})

    initial_delay: values.Delay = key("how long to wait before the first")
    count: values.OneOrMore = key("how many measurements; as many as the phase is long")
    allowed_failures: values.ZeroOrMore = key("more failures than that fail it")
    consecutive_failures: values.OneOrMore = key("instead: so many failures in a row fail it")
    allowed_no_data: values.ZeroOrMore = key(
        "more measurements without data than that make it inconclusive"
    )
    min_passes: values.OneOrMore = key("how many passes it needs")
    max_age: values.LimitIfSaid = key("how old its last pass, and its newest sample, may be")

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong with the tolerances."""
        if self.allowed_failures and self.consecutive_failures is not None:
            both = "either allowed-failures or consecutive-failures, not both"
            yield Fault(("allowed-failures",), both)
        if self.count is not None and (self.min_passes or 1) > self.count:
            yield Fault(("min-passes",), "is more than count: it could never pass")


class MinSamplesKeys(Keys):
    """How much evidence a value needs."""

    query: values.QueryOf = Field(description="what counts the samples")
    least: values.Least = Field(alias="min", description="how many there have to be")


class ChangedMinSamplesKeys(Keys):
    """The same for a ready-made check, which has a query."""

    query: values.QueryIfSaid = key("what counts the samples")
    least: values.LeastIfSaid = key("how many there have to be", alias="min")


class CompareKeys(Keys):
    """New against old: by ratio, or by a test over the samples of a phase."""

    max_ratio: values.Factor = key("new may be so many times old")
    min_delta: values.Delta = key("and beyond that by so much")
    test: values.Test = key("the test over both samples")
    alpha: values.Alpha = key("the probability at which the test rejects")
    tolerance: values.Delta = key("the shift that is tolerated, as a share of the old median")

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["max-ratio"], **without("test", "alpha", "tolerance")},
                {"required": ["test"], **without("max-ratio", "min-delta")},
            ]
        }
    )

    def faults(self) -> Iterator[Fault]:
        """Yield a comparison that names neither a ratio nor a test, or mixes both."""
        by_test = {"alpha": self.alpha, "tolerance": self.tolerance}
        by_ratio = {"max-ratio": self.max_ratio, "min-delta": self.min_delta}
        strangers = by_ratio if self.test else by_test
        strange = [key for key, value in strangers.items() if value is not None]
        hint = "either {max-ratio, min-delta} or {test: mann-whitney, alpha, tolerance}"
        if self.test == "counts":
            yield Fault(("test",), "counts goes with bad and total", "instead of query: counters")
            return
        if strange:
            word = "does not go with test" if self.test else "goes with test: mann-whitney alone"
            yield Fault((strange[0],), word, hint)
        elif self.test is None and self.max_ratio is None:
            yield Fault((), "says neither max-ratio nor test", hint)


def bounds_faults(least: float | None, most: float | None) -> Iterator[Fault]:
    """Yield the fault of bounds that no value is within."""
    if least is not None and most is not None and least > most:
        yield Fault(("min",), "is more than max: nothing could pass")


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

    model_config = ConfigDict(
        json_schema_extra={
            "dependentRequired": {"min": ["json-path"], "max": ["json-path"]},
            "allOf": [
                {
                    "if": {"required": ["json-path"]},
                    "then": {"anyOf": [{"required": ["min"]}, {"required": ["max"]}]},
                },
                {
                    "if": {"required": ["method"], "properties": {"method": {"const": "HEAD"}}},
                    "then": without("contains", "json-path"),
                },
            ],
        }
    )

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong with where the reply is looked into."""
        yield from bounds_faults(self.least, self.most)
        bounds = [
            name for name, end in (("min", self.least), ("max", self.most)) if end is not None
        ]
        if self.json_path and not bounds:
            yield Fault(("json-path",), "has no bounds: give min or max")
        if bounds and not self.json_path:
            yield Fault((bounds[0],), "bounds need a json path")
        if self.method == "HEAD" and (self.contains or self.json_path):
            yield Fault(("method",), "HEAD has no body to look into")


ONE_NUMBER: Final[JSON] = {
    "if": {"required": ["compare"]},
    "then": {"properties": {"reduce": {"enum": ["max", "min", "sum", "avg"]}}},
}


class MetricKeys(CheckKeys):
    """Abstract: what qualifies the answer to a query."""

    least: values.Number = key("the least that a good value may be", alias="min")
    most: values.Number = key("the most that a good value may be", alias="max")
    reduce: values.Reduction = key("how several series become one measurement")
    window: values.Interval = key("the most that ${window} is")
    freshness: values.QueryIfSaid = key("series whose newest sample must not be older than max-age")
    compare: Annotated[CompareKeys | None, values.NOT_NULL] = key(
        "the new version against the one that served before"
    )
    variables: values.Variables = key("more variables for the queries")


class QueryKeys(MetricKeys):
    """A check by a query of one's own."""

    name: values.Name = Field(description="what the check is called")
    query: values.QueryOf = Field(description="PromQL, in which ${variables} can stand")
    min_samples: Annotated[MinSamplesKeys | None, values.NOT_NULL] = key(
        "how much evidence a value needs"
    )

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                EITHER_TOLERANCE,
                ONE_NUMBER,
                {"anyOf": [{"required": [name]} for name in ("min", "max", "compare")]},
            ]
        }
    )

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong with the tolerances, the bounds and the comparison."""
        yield from super().faults()
        yield from bounds_faults(self.least, self.most)
        if self.least is None and self.most is None and self.compare is None:
            yield Fault((), "has no bounds: give min, max or compare")
        if self.compare is None:
            return
        if self.query.names.isdisjoint(OF_ONE_VERSION):
            names = " or ".join(f"${{{name}}}" for name in OF_ONE_VERSION)
            yield Fault(("compare",), f"needs a query that names {names}")
        if self.reduce in (Reduce.ALL, Reduce.ANY):
            one = "needs one number a side: reduce by max, min, sum or avg"
            yield Fault(("compare",), one)


class ReadyMadeKeys(MetricKeys):
    """A ready-made check; what is said here wins over what it says."""

    use: values.ReadyMadeName = Field(description="a ready-made check")
    metrics: values.MetricsKind = key("whose metrics it asks for")
    pods: values.TextIfSaid = key(_ABOUT_PODS)
    name: values.NameIfSaid = key("what the check is called; as the ready-made one")
    min_samples: Annotated[ChangedMinSamplesKeys | None, values.NOT_NULL] = key(
        "how much evidence a value needs"
    )


class CountCompareKeys(Keys):
    """New against old by counts: what is worse, and what is not harmful."""

    test: Literal["counts"] = Field(description="by the counts of both versions")
    baseline: values.PodsCompared = key(
        "all pods of the old version, or only fresh ones: started within a minute of a new one"
    )
    tolerance: values.Delta = key("worse is beyond the old rate and such a share of it")
    harm: values.Factor = key("not harmful is shown to be below so many times the old rate")
    negligible: values.RateIfSaid = key("nor is a rate that is shown to be below this")
    min_delta: values.RateIfSaid = key("worse is also beyond the old rate by so much")
    alpha: values.Alpha = key("how probable it may be to fail a version at the tolerance")

    def faults(self) -> Iterator[Fault]:
        """Yield a harm that is tolerated."""
        usual = CountRule()
        tolerance = usual.tolerance if self.tolerance is None else self.tolerance
        harm = usual.harm if self.harm is None else self.harm
        if harm <= 1 + tolerance:
            named = "harm" if self.harm is not None else "tolerance"
            text = f"harm ({harm:g}) has to be above 1 + tolerance ({1 + tolerance:g})"
            yield Fault((named,), text, "or one version would be tolerated and harmful at once")


class AnyCountKeys(AnyCheckKeys):
    """Abstract: how counters of both versions are compared."""

    compare: Annotated[CountCompareKeys | None, values.NOT_NULL] = key("how they are compared")
    warm_up: values.Delay = key("how much of the beginning of its phase is left out")
    scrape_interval: values.LimitIfSaid = key("how often the counters are scraped, at least")
    variables: values.Variables = key("more variables for the queries")


class CountKeys(AnyCountKeys):
    """A comparison of both versions by their counters."""

    name: values.Name = Field(description="what the check is called")
    bad: values.QueryOf = Field(description="the counters of bad events, as PromQL")
    total: values.QueryOf = Field(description="the counters of all events, the bad ones included")

    def faults(self) -> Iterator[Fault]:
        """Yield queries that are no counters, or not of one version."""
        for name, query in (("bad", self.bad), ("total", self.total)):
            if wrong := why_no_counters(query):
                yield Fault((name,), wrong, 'as in http_requests_total{pod=~"${replicaset}-.*"}')
            if query.names.isdisjoint(OF_ONE_VERSION):
                names = " or ".join(f"${{{one}}}" for one in OF_ONE_VERSION)
                yield Fault((name,), f"has to name {names}: it is about one version")


class ReadyMadeCountKeys(AnyCountKeys):
    """A ready-made comparison by counts; what is said here wins over what it says."""

    use: values.ReadyMadeCountName = Field(description="a ready-made comparison by counts")
    metrics: values.MetricsKind = key("whose metrics it asks for")
    pods: values.TextIfSaid = key(_ABOUT_PODS)
    name: values.NameIfSaid = key("what the check is called; as the ready-made one")


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


FORMS: Final[Mapping[str, type[AnyCheckKeys]]] = {
    "query": QueryKeys,
    "bad": CountKeys,
    "http": HttpKeys,
    "command": CommandKeys,
    "use": ReadyMadeKeys,
}
"""The model of each source of checks, by the key that names the source.

`use` of a comparison by counts has the model `ReadyMadeCountKeys` instead.
"""


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys of a mapping, in the order of declaration."""
    return tuple(field.alias or spelt(name) for name, field in model.model_fields.items())
