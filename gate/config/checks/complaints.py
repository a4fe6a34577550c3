"""What is wrong with a value of a key, in our words, by the constraint that it breaks."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gate.config.checks.scalars import not_one_of, quote_value
from gate.core.frozen import dataclass

_NUMBER_HINT: Final = "as in 0.5 or 1e3, without quotes"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Says of a key what a value should be, as in "a check's name"; `hint` is the next step."""

    what: str = ""
    hint: str = ""


def complaint(details: ErrorDetails, field: FieldInfo) -> tuple[str, str] | None:
    """Return a line and a hint, which may be empty; None for an error of another kind."""
    value = details["input"]
    wanted = next((item for item in field.metadata if isinstance(item, Wanted)), Wanted())
    match details["type"]:
        case "string_type":
            return f"not text: {quote_value(value)}", "put it in quotes"
        case "string_pattern_mismatch" if not value.strip():
            return "is empty", ""
        case "string_pattern_mismatch":
            return f"not {wanted.what}: {quote_value(value)}", wanted.hint
        case "bool_type":
            return f"neither true nor false: {quote_value(value)}", ""
        case "enum" | "literal_error":
            return not_one_of([*_words(field)], value), ""
        case "float_type" | "finite_number":
            return f"not a number: {quote_value(value)}", _NUMBER_HINT
        case "int_type" if isinstance(value, bool) or not isinstance(value, float):
            return f"not a number: {quote_value(value)}", _NUMBER_HINT
        case "int_type" | "greater_than" | "greater_than_equal" | "less_than_equal" | "less_than":
            return f"{_range(field)}: {quote_value(value)}", wanted.hint
    return None


def _words(field: FieldInfo) -> Iterator[str]:
    """Yield the members of the closed set that a field's value is of."""
    of_either = get_origin(field.annotation) is not Literal and get_args(field.annotation)
    kinds: Any = of_either or (field.annotation,)
    for kind in kinds:
        members = kind if isinstance(kind, enum.EnumMeta) else get_args(kind)
        yield from map(str, members)


def _range(field: FieldInfo) -> str:
    """Say which numbers a field takes."""
    ends = {
        name: end
        for name in ("gt", "ge", "le", "lt")
        for item in field.metadata
        if (end := getattr(item, name, None)) is not None
    }
    if int in (field.annotation, *get_args(field.annotation)):
        return f"not a whole number from {ends['ge']} to {ends['le']}"
    words = {"gt": "above {:g}", "ge": "{:g} or more", "le": "at most {:g}", "lt": "below {:g}"}
    return f"must be {' and '.join(words[name].format(end) for name, end in ends.items())}"
