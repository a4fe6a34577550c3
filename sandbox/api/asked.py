"""What a request carries beside its object: who asks, how to patch, how to delete, how strictly.

And what hooks are asked before a write is stored: they may refuse it or change the object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox.json import JSON
from sandbox.kinds import Resource


@dataclass(frozen=True, slots=True)
class Writer:
    """Who asks: `user` as the server authenticated it, `manager` as managedFields shows it."""

    user: str
    manager: str


class PatchType(StrEnum):
    """The four kinds of patch, by their media types."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch, decoded; `force` takes over fields in conflict and belongs to apply alone."""

    type: PatchType
    body: Any
    force: bool = False


class Propagation(StrEnum):
    """What happens to the dependents of a deleted object."""

    BACKGROUND = "Background"
    ORPHAN = "Orphan"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How to delete; None leaves it to the kind's default."""

    grace_seconds: int | None = None
    propagation: Propagation | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False


class Strictness(StrEnum):
    """What becomes of fields that the schema does not know (`fieldValidation`)."""

    IGNORE = "Ignore"
    WARN = "Warn"
    STRICT = "Strict"


def _unheard(_warning: str) -> None:
    """Drop a warning."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to treat unknown fields, and whether only to try."""

    dry_run: bool = False
    strictness: Strictness = Strictness.IGNORE
    warn: Callable[[str], None] = _unheard


LENIENT = WriteOptions()
KIND_DEFAULT = DeleteOptions()


class Operation(StrEnum):
    """What a write does, as admission calls it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(slots=True)
class Admission:
    """A write on its way: `body` is a copy that a hook may change in place.

    To refuse, a hook raises ApiError. `before` is None on a create, `body` is on a delete.
    Hooks see the write after validation, as the last thing before it is stored, unless they are
    registered as mutating (`Api.mutations`).
    """

    operation: Operation
    resource: Resource
    subresource: str
    namespace: str
    name: str
    by: Writer
    before: JSON | None
    body: JSON | None
    dry_run: bool


Admit = Callable[[Admission], None]
