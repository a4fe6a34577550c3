"""The types of a check's keys: each with its parser, and the JSON Schema of its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, PlainValidator, ValidationInfo

from gate.config.checks import scalars
from gate.config.checks.variables import parse_query
from gate.config.parsing import parse_text
from gate.config.taking import DURATION_PATTERN, schema_of, taken_by, taken_with_info_by
from gate.core.checks.json_path import JsonPath
from gate.core.checks.query_template import Query
from gate.core.checks.query_variables import BUILT_IN
from gate.core.checks.spec import SHORTEST_INTERVAL_SECONDS, During, Reduce
from gate.core.model.objects import SUBDOMAIN
from gate.duration import MOST_SECONDS
from gate.errors import UsageError
from gate.sources.ready_made import READY_MADE, names

METRICS: Final = tuple(dict.fromkeys(made.metrics for made in READY_MADE))
_KEY: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
_INDEX: Final = r"""\[(?:[0-9]{1,6}|"[^"'\\]*"|'[^"'\\]*')\]"""
_JSON_PATH: Final = rf"^(?:\$(?:\.{_KEY}|{_INDEX})|\.?{_KEY}|{_INDEX})(?:\.{_KEY}|{_INDEX})*$"
_URL: Final = r"^https?://[!-.0->A-\[\]-~]+(?:[/?#][!-~]*)?$"
_SAYS_SOMETHING: Final = r"\S"


def by(parse: Callable[[Any], object]) -> PlainValidator:
    """Return the validator of a key, which has to have a value if it is given."""
    return taken_by(lambda value: parse(_not_null(value)))


def _not_null(value: object) -> object:
    if value is None:
        raise UsageError("has no value")
    return value


def _parse_query(value: object, info: ValidationInfo) -> Query:
    """Read a query; the variables that it may use are the context of the validation."""
    return parse_query(parse_text(_not_null(value)), info.context or frozenset())


_BY_QUERY: Final = taken_with_info_by(_parse_query)
NOT_NULL: Final = BeforeValidator(taken_by(_not_null).func)
"""For a mapping that may be left out, but not be null."""


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _seconds(**bound: float) -> Any:
    bounds = {**bound, "maximum": MOST_SECONDS, "pattern": DURATION_PATTERN}
    return schema_of("number", "string", **bounds)


def _make_count_schema(least: int, most: int = scalars.MOST_COUNT) -> Any:
    return schema_of("integer", minimum=least, maximum=most)


Name = Annotated[str, by(scalars.name), schema_of("string", pattern=_whole(scalars.NAME.pattern))]
NameIfSaid = Annotated[
    str | None, by(scalars.name), schema_of("string", pattern=_whole(scalars.NAME.pattern))
]
QueryOf = Annotated[Query, _BY_QUERY, schema_of("string", pattern=_SAYS_SOMETHING)]
QueryIfSaid = Annotated[Query | None, _BY_QUERY, schema_of("string", pattern=_SAYS_SOMETHING)]
TextIfSaid = Annotated[str | None, by(scalars.text), schema_of("string", pattern=_SAYS_SOMETHING)]
Url = Annotated[str, by(scalars.url), schema_of("string", pattern=_URL)]
ServiceUrl = Annotated[str, by(scalars.service_url), schema_of("string", pattern=_URL)]

Number = Annotated[float | None, by(scalars.number), schema_of("number")]
Least = Annotated[float, by(scalars.positive), schema_of("number", exclusiveMinimum=0)]
LeastIfSaid = Annotated[float | None, by(scalars.positive), schema_of("number", exclusiveMinimum=0)]
Delta = Annotated[float | None, by(scalars.not_negative), schema_of("number", minimum=0)]
Factor = Annotated[float | None, by(scalars.ratio), schema_of("number", minimum=1)]
Alpha = Annotated[
    float | None, by(scalars.alpha), schema_of("number", exclusiveMinimum=0, maximum=0.5)
]

Interval = Annotated[
    float | None, by(scalars.interval), _seconds(minimum=SHORTEST_INTERVAL_SECONDS)
]
Delay = Annotated[float | None, by(scalars.delay), _seconds(minimum=0)]
LimitIfSaid = Annotated[float | None, by(scalars.limit), _seconds(exclusiveMinimum=0)]

OneOrMore = Annotated[int | None, by(scalars.count(1)), _make_count_schema(1)]
ZeroOrMore = Annotated[int | None, by(scalars.count(0)), _make_count_schema(0)]
Redirects = Annotated[
    int | None,
    by(scalars.count(0, scalars.MOST_REDIRECTS)),
    _make_count_schema(0, scalars.MOST_REDIRECTS),
]
Switch = Annotated[bool | None, by(scalars.switch), schema_of("boolean")]

Reduction = Annotated[
    Reduce | None, by(scalars.member(Reduce)), schema_of("string", enum=list(Reduce))
]
Phases = Annotated[
    During | None, by(scalars.member(During)), schema_of("string", enum=list(During))
]
Test = Annotated[
    str | None, by(scalars.one_of(("mann-whitney",))), schema_of("string", enum=["mann-whitney"])
]
Method = Annotated[
    Literal["GET", "HEAD"] | None, by(scalars.method), schema_of("string", enum=["GET", "HEAD"])
]
Status = Annotated[
    tuple[int, int] | None,
    by(scalars.status),
    schema_of(
        "integer",
        "string",
        minimum=100,
        maximum=599,
        pattern=_whole(scalars.STATUS.pattern),
        examples=[200, "200-299"],
    ),
]
PathInJson = Annotated[
    JsonPath | None, by(scalars.path_in_json), schema_of("string", pattern=_JSON_PATH)
]
Words = Annotated[
    tuple[str, ...],
    by(scalars.words),
    schema_of(
        "array",
        minItems=1,
        items={"type": "string", "pattern": r"^[^\x00]*$"},
        prefixItems=[{"pattern": _SAYS_SOMETHING}],
    ),
]
DeploymentName = Annotated[
    str | None,
    by(scalars.deployment),
    schema_of("string", pattern=_whole(SUBDOMAIN.pattern)),
]
ReadyMadeName = Annotated[str, by(scalars.one_of(names())), schema_of("string", enum=list(names()))]
MetricsKind = Annotated[
    str | None, by(scalars.one_of(METRICS)), schema_of("string", enum=list(METRICS))
]
VARIABLES_SCHEMA: Final = {
    "type": "object",
    "propertyNames": {"pattern": "^[a-z_][a-z0-9_]{0,62}$", "not": {"enum": sorted(BUILT_IN)}},
    "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 256},
}
