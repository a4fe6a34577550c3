"""The options that hold checks, which by default measure at `check-interval`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from gate.config.option import Form
from gate.config.taking import FileForm, Parser, schema_of_list, taken_with_others_by
from gate.core.checks.spec import Check, Schedule

INTERVAL_SECONDS: Final = Schedule().interval_seconds
Checks = tuple[Check, ...]

# The readers need pydantic, which most runs do not: they are imported where there is a check.


def _of_file(value: object, interval_seconds: float) -> Checks:
    from gate.config.checks.reading import read_checks

    return read_checks(value, interval_seconds)


def _by_query(value: object, interval_seconds: float) -> Checks:
    from gate.config.checks import one_line

    return one_line.parse_checks(value, one_line.by_query, interval_seconds)


def _by_url(value: object, interval_seconds: float) -> Checks:
    from gate.config.checks import one_line

    return one_line.parse_checks(value, one_line.by_url, interval_seconds)


def _by_command(value: object, interval_seconds: float) -> Checks:
    from gate.config.checks import one_line

    return one_line.parse_checks(value, one_line.by_command, interval_seconds)


def _at_interval(parse: Callable[[object, float], Checks]) -> Parser:
    """Return the parser of checks; `check_interval` has to be declared before them."""
    return taken_with_others_by(
        lambda value, others: parse(value, others.get("check_interval", INTERVAL_SECONDS))
    )


ChecksOfFile = Annotated[Checks, Form("CHECK"), _at_interval(_of_file), FileForm({"type": "array"})]
ChecksByQuery = Annotated[
    Checks,
    Form("CHECK", repeated=True),
    _at_interval(_by_query),
    schema_of_list(pattern=r"^\s*[^:]*:\s"),
]
ChecksByUrl = Annotated[
    Checks,
    Form("URL", repeated=True),
    _at_interval(_by_url),
    schema_of_list(pattern=r"^\s*https?://"),
]
ChecksByCommand = Annotated[
    Checks,
    Form("COMMAND", repeated=True),
    _at_interval(_by_command),
    schema_of_list(pattern=r"\S"),
]
