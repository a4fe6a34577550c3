"""How the value of an option is read, and what is said to be wrong with it, and where inside it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from gate.core.frozen import dataclass
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


@dataclass(frozen=True, slots=True)
class Parser:
    """How the value of an option is read.

    `parse` takes what was given and the values of the options declared before it, by their names;
    it raises BadValueError. With `takes_default` it is also asked where nothing was given.
    """

    parse: Callable[[Any, Mapping[str, Any]], object]
    takes_default: bool = False


@dataclass(frozen=True, slots=True)
class FileForm:
    """The JSON Schema of an option's value in a file; `closed_set` is what it refers to."""

    schema: Mapping[str, Any]
    closed_set: enum.EnumType | None = None


def taken_by(parse: Callable[[Any], object]) -> Parser:
    """Return the parser of an option that depends on no other."""
    return taken_with_others_by(lambda value, _: parse(value))


def taken_if_set_by(parse: Callable[[Any], object]) -> Parser:
    """Return the parser of an option that may be left out."""
    return taken_by(lambda value: None if value is None else parse(value))


def taken_with_others_by(
    parse: Callable[[Any, Mapping[str, Any]], object], *, takes_default: bool = False
) -> Parser:
    """Return the parser of an option that depends on others, as `Parser` says."""

    def read(value: object, others: Mapping[str, Any]) -> object:
        with naming_faults():
            return parse(value, others)

    return Parser(read, takes_default)


@contextmanager
def naming_faults() -> Iterator[None]:
    """Raise a UsageError of the block as the BadValueError of the whole value."""
    try:
        yield
    except UsageError as error:
        raise BadValueError([Fault((), error.message, error.hint)]) from error


def schema_of(*types: str, **more: Any) -> FileForm:
    """Return the schema of a value of one of the types."""
    form = {"type": types[0] if len(types) == 1 else list(types), **more}
    return FileForm(dict(sorted(form.items())))


def schema_of_list(**item: Any) -> FileForm:
    """Return the schema of a list that can also be text, one element a line."""
    items = dict(sorted({"type": "string", **item}.items()))
    array = {"items": items, "type": "array"}
    return FileForm({"anyOf": [array, {"type": "string"}]})


DURATION_PATTERN: Final = (
    r"^\s*(?:[0-9]+(?:\.[0-9]+)?|(?=[0-9])(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?)\s*$"
)
"""What `gate.duration` reads."""
