"""JSON patch (RFC 6902) and JSON merge patch (RFC 7386), and how a patch is refused.

As with the server's library, `replace` sets a missing member. In a merge patch objects are merged,
null removes, all else replaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from sandbox.failure import ApiError, not_served
from sandbox.json import JSON, copy_json

UNTOLD: Final = "the server rejected our request due to an error in our request"
"""All that clients read of a patch that does not fit."""


class PatchError(Exception):
    """The object stays as it was; `status` is 400, or 422 where the patch does not fit."""

    def __init__(self, message: str, status: int = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.message = message
        self.status = status

    def refusal(self) -> ApiError:
        """Return the answer."""
        if self.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            return ApiError(self.status, "Invalid", UNTOLD)
        return ApiError(self.status, "BadRequest", self.message)


def inapplicable(message: str) -> PatchError:
    """Return the error of a patch that does not fit the object."""
    return PatchError(message, HTTPStatus.UNPROCESSABLE_ENTITY)


_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class _Place:
    """One member of an object or item of a list, which need not be there."""

    parent: dict[str, Any] | list[Any]
    key: str

    def get(self) -> Any:
        """Return the value; None for a member that is missing, an error for an item."""
        if isinstance(self.parent, dict):
            return self.parent.get(self.key)
        return self.parent[self._index(len(self.parent))]

    def add(self, value: Any) -> None:
        """Set a member, or insert an item; `-` is the place behind the last."""
        if isinstance(self.parent, dict):
            self.parent[self.key] = value
        elif self.key == "-":
            self.parent.append(value)
        else:
            self.parent.insert(self._index(len(self.parent) + 1), value)

    def replace(self, value: Any) -> None:
        """Set a member, missing or not, or an item that is there."""
        if isinstance(self.parent, dict):
            self.parent[self.key] = value
        else:
            self.parent[self._index(len(self.parent))] = value

    def remove(self) -> None:
        """Remove what is there; nothing there is an error."""
        if isinstance(self.parent, list):
            del self.parent[self._index(len(self.parent))]
        elif self.key in self.parent:
            del self.parent[self.key]
        else:
            raise inapplicable(f"Unable to remove nonexistent key: {self.key}: missing value")

    def _index(self, length: int) -> int:
        if not _INDEX.fullmatch(self.key) or int(self.key) >= length:
            raise inapplicable(f"the list has no item {self.key}")
        return int(self.key)


def json_patch(doc: JSON, ops: Any) -> JSON:
    """Return the document after all operations; raises `PatchError`, and then none has happened."""
    found: JSON = copy_json(doc)
    for operation in ops:
        if not isinstance(operation, dict):
            raise PatchError("an operation of a JSON patch is an object")
        _do_operation(found, operation)
    return found


def _do_operation(document: JSON, operation: JSON) -> None:
    place = _place(document, operation)
    match operation.get("op"):
        case "add":
            place.add(copy_json(operation.get("value")))
        case "remove":
            place.remove()
        case "replace":
            place.replace(copy_json(operation.get("value")))
        case "copy" | "move":
            raise not_served("a JSON patch that copies or moves")
        case "test":
            if place.get() != operation.get("value"):
                raise inapplicable(f"testing value {operation['path']} failed: test failed")
        case other:
            raise inapplicable(f"Unexpected kind: {other}")


def _place(document: JSON, operation: JSON) -> _Place:
    """Return the place that a pointer (RFC 6901) names; the document as a whole has none."""
    pointer = operation.get("path")
    if not isinstance(pointer, str) or not pointer.startswith("/"):
        raise inapplicable(f"an operation needs a path below the document: {pointer}")
    *way, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    here: Any = document
    for step in way:
        here = _Place(here, step).get() if isinstance(here, dict | list) else None
    if not isinstance(here, dict | list):
        raise inapplicable(f"{operation.get('op')} operation does not apply: no path {pointer}")
    return _Place(here, last)


def merge_patch(doc: JSON, patch: JSON) -> JSON:
    """Return the patched document, which may share parts with what was given."""
    found: JSON = _merge_value(doc, patch)
    return found


def _merge_value(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return without_nulls(patch)
    found = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            found.pop(name, None)
        else:
            found[name] = _merge_value(found.get(name), part)
    return found


def without_nulls(value: Any) -> Any:
    """Return a value without members that are null; a list's items stay."""
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
