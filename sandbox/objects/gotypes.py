"""How the API's Go types read and write JSON: the facts behind decoding and strict checks.

`gotypes.json` is generated from the Go types themselves (`tests/cluster/gotypes`). It maps a type
(`apps/v1.DeploymentSpec`) to its fields: JSON name to type and flags (`p` a pointer, `o` left out
when empty, `z` left out when zero). In a type's text `[]` is a list, `{}` a map of strings, and a
word after a space is the Go name of a string type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sandbox.kinds import Resource


@dataclass(frozen=True, slots=True)
class GoField:
    """One field of a struct, as its JSON tag has it."""

    type: str
    is_pointer: bool
    omits_empty: bool
    omits_zero: bool


@cache
def structs() -> Mapping[str, Mapping[str, GoField]]:
    """Return the fields of every struct by its name; read once, on first use."""
    text = files("sandbox.objects").joinpath("gotypes.json").read_text(encoding="utf-8")
    return {name: _fields(fields) for name, fields in json.loads(text).items()}


def _fields(raw: Mapping[str, tuple[str, str]]) -> Mapping[str, GoField]:
    return {
        name: GoField(kind, "p" in flags, "o" in flags, "z" in flags)
        for name, (kind, flags) in raw.items()
    }


@cache
def root_of(resource: Resource) -> str:
    """Return the name of the struct of a kind: `apps/v1.Deployment`, `core/v1.Pod`."""
    group = resource.group.split(".", maxsplit=1)[0] or "core"
    return f"{group}/{resource.version}.{resource.kind}"


def is_struct(kind: str) -> bool:
    """Whether a type's text names a struct."""
    return kind in structs()


def element_of(kind: str) -> str | None:
    """Return what a list or a map holds, None for any other type."""
    if kind == "ResourceList":
        return "Quantity"
    return kind[2:] if kind[:2] in {"[]", "{}"} else None


def describe_type(kind: str) -> str:
    """Return a type as Go's messages name it: `int32`, `[]v1.Container`, `map[string]string`."""
    if kind[:2] == "[]":
        return f"[]{describe_type(kind[2:])}"
    if kind[:2] == "{}":
        return f"map[string]{describe_type(kind[2:])}"
    if kind == "bytes":
        return "[]uint8"
    if kind == "ResourceList":
        return "v1.ResourceList"
    scalar, _, name = kind.partition(" ")
    return name or scalar.rpartition("/")[2]
