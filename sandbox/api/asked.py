"""What a request carries beside its object: who asks, how to patch, how to delete, how strictly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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


class Strictness(StrEnum):
    """What becomes of fields that the schema does not know (`fieldValidation`)."""

    IGNORE = "Ignore"
    WARN = "Warn"
    STRICT = "Strict"


def _unheard(_warning: str) -> None:
    """Drop a warning."""


@dataclass(frozen=True, slots=True)
class FieldValidation:
    """How to treat unknown and duplicate fields; `raw` shows the duplicate ones."""

    strictness: Strictness = Strictness.IGNORE
    raw: bytes | None = None
    warn: Callable[[str], None] = _unheard


LENIENT = FieldValidation()
KIND_DEFAULT = DeleteOptions()
