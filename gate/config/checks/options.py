"""The options that hold checks, which by default measure at `check-interval`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import PlainValidator, WithJsonSchema

from gate.config.checks import one_line
from gate.config.checks.one_line import parse_checks
from gate.config.checks.reading import read_checks
from gate.config.option import Form
from gate.config.taking import schema_of_list, taken_with_info_by
from gate.core.checks.spec import Check, Schedule

INTERVAL_SECONDS: Final = Schedule().interval_seconds
Checks = tuple[Check, ...]


def _at_interval(parse: Callable[[object, float], Checks]) -> PlainValidator:
    """Return the validator of checks; `check_interval` has to be declared before them."""
    return taken_with_info_by(
        lambda value, info: parse(value, info.data.get("check_interval", INTERVAL_SECONDS))
    )


def _each_by(parse: Callable[[str, float], Check]) -> PlainValidator:
    return _at_interval(lambda value, seconds: parse_checks(value, parse, seconds))


ChecksOfFile = Annotated[
    Checks, Form("CHECK"), _at_interval(read_checks), WithJsonSchema({"type": "array"})
]
ChecksByQuery = Annotated[
    Checks,
    Form("CHECK", repeated=True),
    _each_by(one_line.by_query),
    schema_of_list(pattern=r"^\s*[^:]*:\s"),
]
ChecksByUrl = Annotated[
    Checks,
    Form("URL", repeated=True),
    _each_by(one_line.by_url),
    schema_of_list(pattern=r"^\s*https?://"),
]
ChecksByCommand = Annotated[
    Checks,
    Form("COMMAND", repeated=True),
    _each_by(one_line.by_command),
    schema_of_list(pattern=r"\S"),
]
