"""The columns of a Table, and what many kinds of rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
WORKLOAD = (Column("Containers", priority=1), Column("Images", priority=1))
SELECTOR = Column("Selector", priority=1)


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


def count(body: JSON, *path: str) -> int:
    """Return a number of the object, 0 where it is left out."""
    return int(dig(body, *path) or 0)


def labels_text(labels: Mapping[str, str] | None) -> str:
    """Return labels as `a=b,c=d`."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def selector_text(selector: JSON | None) -> str:
    """Return a label selector in its short form, in the order of its keys."""
    chosen = selector or {}
    parts = [(key, f"{key}={value}") for key, value in (chosen.get("matchLabels") or {}).items()]
    parts += [(each["key"], _requirement(each)) for each in chosen.get("matchExpressions") or []]
    return ",".join(text for _, text in sorted(parts, key=lambda part: part[0]))


def containers(template: JSON | None) -> list[str]:
    """Return the two cells of a pod template: its containers' names and their images."""
    found = dig(template, "spec", "containers") or []
    return [",".join(str(each.get(key, "")) for each in found) for key in ("name", "image")]


def _requirement(expression: JSON) -> str:
    key, operator = expression["key"], expression["operator"]
    values = ",".join(sorted(expression.get("values") or []))
    forms = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
    return str(forms.get(operator, f"!{key}"))
