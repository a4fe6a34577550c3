"""The types of a check's keys: by pydantic's constraints, or a parser and its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, WithJsonSchema

from gate.config.checks import scalars
from gate.config.checks.complaints import Wanted
from gate.config.checks.validators import schema_of, taken_by, taken_with_info_by
from gate.config.checks.variables import parse_query, parse_variables
from gate.config.parsing import parse_duration, parse_limit, parse_text
from gate.config.taking import DURATION_PATTERN
from gate.core.checks.json_path import JsonPath
from gate.core.checks.query_template import Query
from gate.core.checks.spec import SHORTEST_INTERVAL_SECONDS, ComparedPods, During, Reduce
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.body import FrozenMap
from gate.duration import MOST_SECONDS
from gate.errors import UsageError
from gate.sources.ready_made import READY_MADE, names

METRICS: Final = tuple(dict.fromkeys(made.metrics for made in READY_MADE))
NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ -]{0,61}[A-Za-z0-9])?", re.ASCII)
NAME_HINT: Final = "up to 63 letters, digits, spaces and . _ -, a letter or digit at both ends"
MOST_COUNT: Final = 1_000_000
MOST_REDIRECTS: Final = 10
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


def _to_whole(value: object) -> object:
    """Return the number as an integer if it is one, as JSON's 3.0 is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_TEXT: Final = Field(strict=True, pattern=_SAYS_SOMETHING)
_FINITE: Final = Field(strict=True, allow_inf_nan=False)
_WHOLE: Final = (Field(strict=True), BeforeValidator(_to_whole), NOT_NULL)
_OF_NAME: Final = (
    Field(strict=True, pattern=_whole(NAME.pattern)),
    NOT_NULL,
    Wanted("a check's name", NAME_HINT),
)

Name = Annotated[str, *_OF_NAME]
NameIfSaid = Annotated[str | None, *_OF_NAME]
QueryOf = Annotated[Query, _BY_QUERY, schema_of("string", pattern=_SAYS_SOMETHING)]
QueryIfSaid = Annotated[Query | None, _BY_QUERY, schema_of("string", pattern=_SAYS_SOMETHING)]
TextIfSaid = Annotated[str | None, _TEXT, NOT_NULL]
Url = Annotated[str, by(scalars.url), schema_of("string", pattern=_URL)]
ServiceUrl = Annotated[str, by(scalars.service_url), schema_of("string", pattern=_URL)]

Number = Annotated[float | None, _FINITE, NOT_NULL]
Least = Annotated[float, _FINITE, Field(gt=0), NOT_NULL]
LeastIfSaid = Annotated[float | None, _FINITE, Field(gt=0), NOT_NULL]
Delta = Annotated[float | None, _FINITE, Field(ge=0), NOT_NULL]
Factor = Annotated[
    float | None, _FINITE, Field(ge=1), NOT_NULL, Wanted(hint="1.5 is half as much again")
]
RateIfSaid = Annotated[float | None, _FINITE, Field(ge=0, lt=1), NOT_NULL]
Alpha = Annotated[float | None, _FINITE, Field(gt=0, le=0.5), NOT_NULL]

Interval = Annotated[
    float | None, by(scalars.interval), _seconds(minimum=SHORTEST_INTERVAL_SECONDS)
]
Delay = Annotated[float | None, by(parse_duration), _seconds(minimum=0)]
LimitIfSaid = Annotated[float | None, by(parse_limit), _seconds(exclusiveMinimum=0)]

OneOrMore = Annotated[int | None, Field(ge=1, le=MOST_COUNT), *_WHOLE]
ZeroOrMore = Annotated[int | None, Field(ge=0, le=MOST_COUNT), *_WHOLE]
Redirects = Annotated[int | None, Field(ge=0, le=MOST_REDIRECTS), *_WHOLE]
Switch = Annotated[bool | None, Field(strict=True), NOT_NULL]

Reduction = Annotated[Reduce | None, NOT_NULL, schema_of("string", enum=list(Reduce))]
Phases = Annotated[During | None, NOT_NULL, schema_of("string", enum=list(During))]
Test = Annotated[
    Literal["mann-whitney", "counts"] | None,
    NOT_NULL,
    schema_of("string", enum=["mann-whitney"]),
]
PodsCompared = Annotated[
    ComparedPods | None, NOT_NULL, schema_of("string", enum=list(ComparedPods))
]
Method = Annotated[Literal["GET", "HEAD"] | None, NOT_NULL]
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
    schema_of("string", pattern=_whole(scalars.WORKLOAD_NAME.pattern)),
]
_BY_COUNTS: Final = tuple(dict.fromkeys(made.name for made in READY_MADE if made.is_by_counts))
_BY_QUERY_NAMES: Final = tuple(name for name in names() if name not in _BY_COUNTS)
ReadyMadeName = Annotated[
    str, by(scalars.one_of(names())), schema_of("string", enum=list(_BY_QUERY_NAMES))
]
ReadyMadeCountName = Annotated[
    str, by(scalars.one_of(names())), schema_of("string", enum=list(_BY_COUNTS))
]
MetricsKind = Annotated[
    str | None, by(scalars.one_of(METRICS)), schema_of("string", enum=list(METRICS))
]
_VARIABLES_SCHEMA: Final = {
    "type": "object",
    "propertyNames": {"pattern": "^[a-z_][a-z0-9_]{0,62}$", "not": {"enum": sorted(BUILT_IN)}},
    "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 256},
}
Variables = Annotated[
    FrozenMap[str, str] | None, by(parse_variables), WithJsonSchema(_VARIABLES_SCHEMA)
]
