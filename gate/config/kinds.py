"""The types of settings: each with its parser, and what JSON Schema says of its form in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from pydantic import PlainValidator, WithJsonSchema

from gate.config import parsing
from gate.config.fail_fast import COUNTS, GRACES
from gate.config.option import Form
from gate.config.parsing import AUTO, MIN_AVAILABLE, ReportFile
from gate.core.policy import FailFast
from gate.core.share import Share
from gate.errors import UsageError
from gate.manifests.images import ImageOverride
from gate.manifests.lint import LintCode
from gate.report.sinks import Format


class BadValueError(ValueError):
    """A value that an option does not take; `hint` is the next step or empty."""

    def __init__(self, error: UsageError) -> None:
        super().__init__(error.message)
        self.hint = error.hint


def _taken_by(parse: Callable[[object], object]) -> PlainValidator:
    """Return the validator that `parse` is; of exceptions pydantic collects ValueErrors alone."""

    def validate(value: object) -> object:
        try:
            return parse(value)
        except UsageError as error:
            raise BadValueError(error) from error

    return PlainValidator(validate)


def _taken_if_set_by(parse: Callable[[object], object]) -> PlainValidator:
    return _taken_by(lambda value: None if value is None else parse(value))


def _schema_of_list(**item: Any) -> WithJsonSchema:
    """Return the schema of a list that can also be text, one element a line."""
    array = {"type": "array", "items": {"type": "string", **item}}
    return WithJsonSchema({"anyOf": [array, {"type": "string"}]})


def _schema(*types: str, **more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": types[0] if len(types) == 1 else list(types), **more})


Text = Annotated[
    str | None,
    Form("TEXT"),
    _taken_if_set_by(parsing.parse_text),
    _schema("string", minLength=1),
]
Texts = Annotated[
    tuple[str, ...],
    Form("TEXT", repeated=True),
    _taken_by(parsing.parse_texts),
    _schema_of_list(minLength=1),
]

_DURATIONS: Final = [90, "10m", "1h30m"]
Duration = Annotated[
    float,
    Form("DURATION"),
    _taken_by(parsing.parse_duration),
    _schema("number", "string", minimum=0, examples=_DURATIONS),
]
Limit = Annotated[
    float,
    Form("DURATION"),
    _taken_by(parsing.parse_limit),
    _schema("number", "string", exclusiveMinimum=0, examples=_DURATIONS),
]
Budget = Annotated[
    float | None,
    Form("DURATION"),
    _taken_if_set_by(parsing.parse_budget),
    _schema("number", "string", exclusiveMinimum=0, examples=[AUTO, *_DURATIONS]),
]

Tolerated = Annotated[
    Share | None,
    Form("N|N%"),
    _taken_if_set_by(parsing.parse_share),
    _schema("integer", "string", minimum=0, examples=[1, "25%"]),
]
Required = Annotated[
    Share | Literal["min-available"] | None,
    Form("N|N%"),
    _taken_if_set_by(parsing.parse_required),
    _schema("integer", "string", minimum=1, examples=[3, "75%", MIN_AVAILABLE]),
]
Revision = Annotated[
    int | None,
    Form("N"),
    _taken_if_set_by(parsing.parse_revision),
    _schema("integer", minimum=1),
]

Port = Annotated[
    int,
    Form("N"),
    _taken_by(parsing.parse_port),
    _schema("integer", minimum=0, maximum=65535),
]
Speed = Annotated[
    float,
    Form("N"),
    _taken_by(parsing.parse_speed),
    _schema("number", exclusiveMinimum=0),
]

FailFastChanges = Annotated[
    FailFast,
    Form("KIND=VALUE", repeated=True),
    _taken_by(parsing.parse_fail_fast),
    _schema_of_list(pattern=f"^({'|'.join((*GRACES, *COUNTS))})="),
]
Images = Annotated[
    tuple[ImageOverride, ...],
    Form("CONTAINER=REF", repeated=True),
    _taken_by(parsing.parse_images),
    _schema_of_list(pattern="^.+=.+$"),
]
Reports = Annotated[
    tuple[ReportFile, ...],
    Form("FORMAT=FILE", repeated=True),
    _taken_by(parsing.parse_reports),
    _schema_of_list(pattern=f"^({'|'.join(Format)})=.+$"),
]
Silenced = Annotated[
    frozenset[LintCode],
    Form("CODE", repeated=True),
    _taken_by(parsing.parse_silence),
    _schema_of_list(enum=["all", *LintCode]),
]
