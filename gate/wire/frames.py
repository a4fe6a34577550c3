"""What the API puts around objects, as msgspec structs: lines of a watch, lists, statuses.

Names are those of the API (meta/v1); unknown fields are skipped unread.
"""

from __future__ import annotations

import enum
from typing import Generic, TypeVar

from msgspec import Struct

from gate.wire.shapes import Watched


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


class Line(Struct, gc=False):
    """One line of a watch."""

    type: WatchType
    object: Watched | Status


class ListMeta(Struct, rename={"resource_version": "resourceVersion", "following": "continue"}):
    """ListMeta; `following` is the token of the page after this one."""

    resource_version: str | None = None
    following: str | None = None


Item = TypeVar("Item")


class ListOf(Struct, Generic[Item]):
    """A list, or one page of it; its items need not name their kind."""

    metadata: ListMeta | None = None
    items: list[Item] | None = None
