"""The questions that the real server and the sandbox are both asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sandbox.json import JSON, copy_json
from sandbox.kinds import BY_KIND, Resource

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden"
NAMESPACE = "golden"


@dataclass(frozen=True, slots=True)
class Case:
    """One request: a create of `body`, or an update of what `body` created to `changed`."""

    name: str
    base: str
    resource: Resource
    body: JSON
    validation: str = ""
    update: Mapping[str, Any] | None = None
    update_drop: Sequence[str] = ()
    subresource: str = ""

    @property
    def is_update(self) -> bool:
        """Whether the object is there before it is asked."""
        return self.update is not None

    def changed(self, stored: JSON) -> JSON:
        """Return the body of the update, made from the object that is there."""
        return changed(stored, self.update or {}, self.update_drop)


@cache
def all_cases() -> Sequence[Case]:
    """Return every case, in the order of the file; all who ask share their bodies."""
    return tuple(_case(row) for row in _file("cases.yaml"))


@cache
def _file(name: str) -> Any:
    return yaml.load((FOLDER / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _case(row: JSON) -> Case:
    base = _file("bases.yaml")[row["base"]]
    body = changed(base, row.get("set", {}), row.get("drop", ()))
    for name, count in (("big", 300_000), ("huge", 1_100_000)):
        if name in row:
            body = changed(body, {row[name]: "x" * count}, ())
    updates = "update" in row or "update_drop" in row
    return Case(
        name=row["case"],
        base=row["base"].removesuffix("-full"),
        resource=BY_KIND[base["apiVersion"], base["kind"]],
        body=body,
        validation=row.get("validation", ""),
        update=row.get("update", {}) if updates else None,
        update_drop=row.get("update_drop", ()),
        subresource=row.get("subresource", ""),
    )


def changed(body: JSON, values: Mapping[str, Any], drop: Iterable[str]) -> JSON:
    """Return a body with values at dotted paths, where a number is a place in a list."""
    made: JSON = copy_json(body)
    for path in drop:
        holder, last = _holder(made, path)
        holder.pop(last, None)
    for path, value in values.items():
        holder, last = _holder(made, path)
        holder[last] = copy_json(value)
    return made


def _holder(body: JSON, path: str) -> tuple[Any, Any]:
    at: Any = body
    *way, last = path.split(".")
    for step in way:
        at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
    return at, int(last) if isinstance(at, list) else last


@cache
def golden(base: str) -> Mapping[str, JSON]:
    """Return the real server's answers to the cases of one base, by case."""
    found: dict[str, JSON] = json.loads((GOLDEN / f"{base}.json").read_text(encoding="utf-8"))
    return found


def comparable(body: JSON) -> JSON:
    """Return an object without what differs from run to run."""
    made: JSON = copy_json(body)
    for name in ("uid", "creationTimestamp", "managedFields", "resourceVersion"):
        made["metadata"].pop(name, None)
    return made
