"""The columns of a Table, and what many kinds of rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig

UNKNOWN = "<unknown>"

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY


def since(timestamp: Any, now: datetime) -> str:
    """Return the time from an RFC 3339 timestamp until now; `<unknown>` where there is none."""
    if not timestamp:
        return UNKNOWN
    return human((now - datetime.fromisoformat(timestamp)).total_seconds())


def human(seconds: float) -> str:
    """Return two units at most, the second one only while it says something."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    for below, show in _SCALE:
        if whole < below:
            return show(max(0, whole))
    return f"{whole // _YEAR}y"


def _pair(whole: int, unit: int, suffix: str, small: int, small_suffix: str) -> str:
    rest = whole % unit // small
    return f"{whole // unit}{suffix}" + (f"{rest}{small_suffix}" if rest else "")


_SCALE: tuple[tuple[int, Callable[[int], str]], ...] = (
    (2 * _MINUTE, lambda whole: f"{whole}s"),
    (10 * _MINUTE, lambda whole: _pair(whole, _MINUTE, "m", 1, "s")),
    (3 * _HOUR, lambda whole: f"{whole // _MINUTE}m"),
    (8 * _HOUR, lambda whole: _pair(whole, _HOUR, "h", _MINUTE, "m")),
    (2 * _DAY, lambda whole: f"{whole // _HOUR}h"),
    (8 * _DAY, lambda whole: _pair(whole, _DAY, "d", _HOUR, "h")),
    (2 * _YEAR, lambda whole: f"{whole // _DAY}d"),
    (8 * _YEAR, lambda whole: _pair(whole, _YEAR, "y", _DAY, "d")),
)
"""Up to which age which form is used."""


NONE = "<none>"
UNSET = "<unset>"

Cells = Callable[[JSON, datetime], list[Any]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column; those of priority 1 are shown with `-o wide`."""

    name: str
    type: str = "string"
    priority: int = 0
    format: str = ""

    def definition(self) -> JSON:
        """Return the entry of `columnDefinitions`."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Layout:
    """How one kind is shown: its columns, and the cells of an object in the same order."""

    columns: tuple[Column, ...]
    cells: Cells


NAME = Column("Name", format="name")
AGE = Column("Age")


def columns(*names: str, wide: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return columns of strings, the `wide` ones last."""
    return (*(Column(name) for name in names), *(Column(name, priority=1) for name in wide))


def integers(*names: str) -> tuple[Column, ...]:
    """Return columns of whole numbers."""
    return tuple(Column(name, "integer") for name in names)


def name_of(body: JSON) -> str:
    """Return an object's name."""
    return str(dig(body, "metadata", "name") or "")


def age_of(body: JSON, now: datetime) -> str:
    """Return an object's age."""
    return since(dig(body, "metadata", "creationTimestamp"), now)


def count_of(body: JSON, *path: str) -> int:
    """Return a number of the object, 0 where it is left out."""
    return int(dig(body, *path) or 0)
