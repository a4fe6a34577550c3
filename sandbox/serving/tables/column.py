"""The columns of a Table, and what many kinds of rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.age import since

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
