"""Make pydantic validators of parsers, which say what is wrong with a value and where inside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from gate.errors import UsageError
from gate.manifests.source import escape_line

Path = tuple[str | int, ...]
"""Where a value is inside another: keys of mappings and indexes of lists."""


def inside(path: Path) -> str:
    """Return a path as people read it."""
    return ".".join(escape_line(str(step), 60) for step in path)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a value, at `path` in it.

    `subject` tells people which part of the value it is about; if None, the path does. `hint` is
    the next step or empty.
    """

    path: Path
    message: str
    hint: str = ""
    subject: str | None = None


class BadValueError(ValueError):
    """A value that an option does not take, and all that is wrong with it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = tuple(faults)


def taken_by(parse: Callable[[Any], object]) -> PlainValidator:
    """Return `parse` as a validator; UsageErrors become ValueErrors, all that pydantic collects."""

    def validate(value: object) -> object:
        try:
            return parse(value)
        except UsageError as error:
            raise BadValueError([Fault((), error.message, error.hint)]) from error

    return PlainValidator(validate)


def taken_with_info_by(parse: Callable[[Any, ValidationInfo], object]) -> PlainValidator:
    """Return a validator as `taken_by` does, of a parser that needs the validation's context."""

    def validate(value: object, info: ValidationInfo) -> object:
        try:
            return parse(value, info)
        except UsageError as error:
            raise BadValueError([Fault((), error.message, error.hint)]) from error

    return PlainValidator(validate)


def taken_if_set_by(parse: Callable[[Any], object]) -> PlainValidator:
    """Return the validator of an option that may be left out."""
    return taken_by(lambda value: None if value is None else parse(value))


def schema_of(*types: str, **more: Any) -> WithJsonSchema:
    """Return the schema of a value of one of the types."""
    return WithJsonSchema({"type": types[0] if len(types) == 1 else list(types), **more})


def schema_of_list(**item: Any) -> WithJsonSchema:
    """Return the schema of a list that can also be text, one element a line."""
    array = {"type": "array", "items": {"type": "string", **item}}
    return WithJsonSchema({"anyOf": [array, {"type": "string"}]})


DURATION_PATTERN: Final = (
    r"^\s*(?:[0-9]+(?:\.[0-9]+)?|(?=[0-9])(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?)\s*$"
)
"""What `gate.duration` reads."""
