"""What the API puts around objects, as msgspec structs: lines of a watch, lists, statuses.

Names are those of the API (meta/v1); unknown fields are skipped unread.
"""

from __future__ import annotations

import enum
from typing import Any, Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")


class Status(Struct, gc=False, tag_field="kind", tag="Status"):
    """meta/v1 Status, the object of an ERROR."""

    code: int | None = None
    reason: str | None = None
    message: str | None = None


class WatchType(enum.StrEnum):
    """What a line of a watch says about its object (meta/v1 WatchEvent)."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


class Line(Struct, Generic[Item], gc=False):
    """One line of a watch; its object is a `Status` where the type is ERROR."""

    type: WatchType
    object: Item


class ListMeta(Struct, rename={"resource_version": "resourceVersion", "following": "continue"}):
    """ListMeta; `following` is the token of the page after this one."""

    resource_version: str | None = None
    following: str | None = None


class ListOf(Struct, Generic[Item]):
    """A list, or one page of it; its items need not name their kind."""

    metadata: ListMeta | None = None
    items: list[Item] | None = None


def line_of(shape: Any) -> Any:
    """Return the type of a watch's lines whose objects are of that type."""
    return Line[shape | Status]


def list_of(shape: Any) -> Any:
    """Return the type of a list of objects of that type."""
    return ListOf[shape]
