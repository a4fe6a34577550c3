"""The types of settings: each with its parser, and the JSON Schema of its form in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from gate.config import parsing
from gate.config.checks import scalars
from gate.config.fail_fast import COUNTS, GRACES
from gate.config.option import Form
from gate.config.parsing import AUTO, MIN_AVAILABLE, ReportFile
from gate.config.taking import (
    FileForm,
    schema_of,
    schema_of_list,
    taken_by,
    taken_if_set_by,
    taken_with_others_by,
)
from gate.core.checks.spec import SHORTEST_INTERVAL_SECONDS
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import LABEL
from gate.core.rollout.policy import FailFast
from gate.manifests.images import ImageOverride
from gate.manifests.kinds.rules import LintCode
from gate.rbac_subject import PATTERN, Subject
from gate.report.formats.format import Format

if TYPE_CHECKING:
    from gate.config.access import Header, ServerKeys, ServiceKeys

Text = Annotated[
    str | None,
    Form("TEXT"),
    taken_if_set_by(parsing.parse_text),
    schema_of("string", minLength=1),
]
Texts = Annotated[
    tuple[str, ...],
    Form("TEXT", repeated=True),
    taken_by(parsing.parse_texts),
    schema_of_list(minLength=1),
]
Namespace = Annotated[
    str | None,
    Form("NAME"),
    taken_if_set_by(parsing.parse_namespace),
    schema_of("string", pattern=f"^{LABEL.pattern}$"),
]
Namespaces = Annotated[
    tuple[str, ...],
    Form("NAME", repeated=True),
    taken_by(parsing.parse_namespaces),
    schema_of_list(pattern=f"^{LABEL.pattern}$"),
]
LockName = Annotated[
    str | None,
    Form("NAME"),
    taken_if_set_by(parsing.parse_lock_name),
    schema_of("string", minLength=1),
]

_DURATIONS: Final = [90, "10m", "1h30m"]
Duration = Annotated[
    float,
    Form("DURATION"),
    taken_by(parsing.parse_duration),
    schema_of("number", "string", minimum=0, examples=_DURATIONS),
]
Limit = Annotated[
    float,
    Form("DURATION"),
    taken_by(parsing.parse_limit),
    schema_of("number", "string", exclusiveMinimum=0, examples=_DURATIONS),
]
Window = Annotated[
    float | None,
    Form("DURATION"),
    taken_if_set_by(parsing.parse_window),
    schema_of("number", "string", minimum=0, examples=[AUTO, *_DURATIONS]),
]
Budget = Annotated[
    float | None,
    Form("DURATION"),
    taken_if_set_by(parsing.parse_budget),
    schema_of("number", "string", exclusiveMinimum=0, examples=[AUTO, *_DURATIONS]),
]

Tolerated = Annotated[
    Share | None,
    Form("N|N%"),
    taken_if_set_by(parsing.parse_share),
    schema_of("integer", "string", minimum=0, examples=[1, "25%"]),
]
Required = Annotated[
    Share | Literal["min-available"] | None,
    Form("N|N%"),
    taken_if_set_by(parsing.parse_required),
    schema_of("integer", "string", minimum=1, examples=[3, "75%", MIN_AVAILABLE]),
]
Revision = Annotated[
    int | None,
    Form("N"),
    taken_if_set_by(parsing.parse_revision),
    schema_of("integer", minimum=1),
]

Days = Annotated[
    int | None,
    Form("N"),
    taken_if_set_by(parsing.parse_days),
    schema_of("integer", minimum=1),
]

Port = Annotated[
    int,
    Form("N"),
    taken_by(parsing.parse_port),
    schema_of("integer", minimum=0, maximum=65535),
]
Speed = Annotated[
    float,
    Form("N"),
    taken_by(parsing.parse_speed),
    schema_of("number", exclusiveMinimum=0),
]

PerSecond = Annotated[
    float | None,
    Form("RPS"),
    taken_if_set_by(parsing.parse_per_second),
    schema_of("number", exclusiveMinimum=0),
]
RateOfBad = Annotated[
    float | None,
    Form("P"),
    taken_if_set_by(parsing.parse_rate),
    schema_of("number", "string", examples=[0.01, "1%"]),
]
ExposureParts = Annotated[
    tuple[float, float] | None,
    Form("NEW:OLD"),
    taken_if_set_by(parsing.parse_exposure),
    schema_of("string", examples=["1:9"]),
]

RbacSubject = Annotated[
    Subject | None,
    Form("KIND:NAME"),
    taken_if_set_by(parsing.parse_rbac_subject),
    schema_of("string", pattern=PATTERN),
]

FailFastChanges = Annotated[
    FailFast,
    Form("KIND=VALUE", repeated=True),
    taken_by(parsing.parse_fail_fast),
    schema_of_list(pattern=f"^({'|'.join((*GRACES, *COUNTS))})="),
]
Images = Annotated[
    tuple[ImageOverride, ...],
    Form("CONTAINER=REF", repeated=True),
    taken_by(parsing.parse_images),
    schema_of_list(pattern="^.+=.+$"),
]
Reports = Annotated[
    tuple[ReportFile, ...],
    Form("FORMAT=FILE", repeated=True),
    taken_by(parsing.parse_reports),
    schema_of_list(pattern=f"^({'|'.join(Format)})=.+$"),
]
Silenced = Annotated[
    frozenset[LintCode],
    Form("CODE", repeated=True),
    taken_by(parsing.parse_silence),
    schema_of_list(enum=["all", *LintCode]),
]

Interval = Annotated[
    float,
    Form("DURATION"),
    taken_by(scalars.interval),
    schema_of("number", "string", minimum=SHORTEST_INTERVAL_SECONDS, examples=_DURATIONS),
]

# Servers are models of pydantic, which most runs do not need: imported where one is given.


def _parse_server(value: object) -> ServerKeys:
    from gate.config.access import parse_server

    return parse_server(value)


def _parse_services(value: object) -> tuple[ServiceKeys, ...]:
    from gate.config.access import parse_services

    return parse_services(value)


def _parse_header_files(value: object) -> tuple[Header, ...]:
    from gate.config.access import parse_header_files

    return parse_header_files(value)


def _parse_url(value: object, others: Mapping[str, Any]) -> str | None:
    """Take the URL, or else that of the file's `prometheus`, an option declared before this one."""
    server: ServerKeys | None = others.get("prometheus")
    if value is None:
        return server.url if server is not None else None
    return scalars.url(value)


PrometheusServer = Annotated[
    "ServerKeys | None",
    Form("SERVER"),
    taken_if_set_by(_parse_server),
    FileForm({"type": "object"}),
]
HttpServices = Annotated[
    "tuple[ServiceKeys, ...]",
    Form("SERVICE"),
    taken_by(_parse_services),
    FileForm({"type": "array"}),
]
HeaderFiles = Annotated[
    "tuple[Header, ...]",
    Form("NAME=FILE", repeated=True),
    taken_by(_parse_header_files),
    FileForm({}),
]
PrometheusUrl = Annotated[
    str | None,
    Form("URL"),
    taken_with_others_by(_parse_url, takes_default=True),
    FileForm({}),
]
