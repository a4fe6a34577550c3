"""The three patches that make a new document of an old one; apply stands in `fields`.

JSON patch (RFC 6902), JSON merge patch (RFC 7386), and strategic merge patch: as a merge patch, but
lists are merged by the schema's key.

As with the server's library, `replace` sets a missing member. In a merge patch objects are merged,
null removes, all else replaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from sandbox.failure import ApiError, not_served
from sandbox.json import JSON, copy_json
from sandbox.schema import Field, Schema, Type, spell_value

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


DIRECTIVE = "$patch"
Merge = Callable[[JSON, JSON], JSON]


def merged_list(before: list[Any], patch: list[Any], key: str, merge: Merge) -> list[Any]:
    """Return a live list with the patch's items merged in; `merge` is for items of one key."""
    if not any(isinstance(item, dict) for item in [*before, *patch]):
        found = [*before, *(item for item in patch if item not in before)]
        return ordered_list(found, patch, before, "")
    if not all(isinstance(item, dict) for item in [*before, *patch]):
        raise PatchError("a list holds objects or scalars, not both")
    live, items = _split_directed(before, patch, key)
    found = list(live)
    for item in items:
        value = _key_of(item, key)
        index = next((at for at, one in enumerate(found) if _key_of(one, key) == value), None)
        if index is None:
            found.append(item)
        else:
            found[index] = merge(found[index], item)
    return ordered_list(found, items, live, key)


def _split_directed(before: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Return the live list without what the patch deletes, and the patch's plain items."""
    live, items, is_replaced = before, [], False
    for item in patch:
        directive = item.get(DIRECTIVE) if isinstance(item, dict) else None
        match directive:
            case None:
                items.append(item)
            case "delete":
                gone = _key_of(item, key)
                live = [one for one in live if _key_of(one, key) != gone]
            case "replace":
                is_replaced = True
            case other:
                raise PatchError(f"unknown patch type: {other} in map: {spell_value(item)}")
    return (items, []) if is_replaced else (live, items)


def _key_of(item: Any, key: str) -> Any:
    """Return what identifies an item; without a key it is the item itself."""
    if not key:
        return item
    if not isinstance(item, dict) or key not in item:
        raise PatchError(f"an item of a list in the patch does not contain its merge key: {key}")
    return item[key]


def ordered_list(items: list[Any], order: list[Any], live: list[Any], key: str) -> list[Any]:
    """Return the items, those that `order` names as it has them, the others where they were."""
    named = [_key_of(item, key) for item in order]
    places = [_key_of(item, key) for item in live]
    mine = [item for item in items if _key_of(item, key) in named]
    others = [item for item in items if _key_of(item, key) not in named]
    mine.sort(key=lambda item: named.index(_key_of(item, key)))
    found: list[Any] = []
    for item in mine:
        place = _position(item, places, key)
        while others and _position(others[0], places, key) < place:
            found.append(others.pop(0))
        found.append(item)
    return found + others


def _position(item: Any, places: list[Any], key: str) -> int:
    """Return where an item stands in the live list; one that is new comes before all of it."""
    value = _key_of(item, key)
    return places.index(value) if value in places else -1


RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList/"
SET_ORDER = "$setElementOrder/"


def strategic_merge(doc: JSON, patch: JSON, schema: Schema) -> JSON:
    """Return the patched document; raises `PatchError`."""
    return _merged_map(copy_json(doc), copy_json(patch), schema.type)


def _merged_map(value: JSON, patch: JSON, kind: Type) -> JSON:
    """Merge into `value`; both are ours to change."""
    match patch.get(DIRECTIVE):
        case None:
            pass
        case "replace":
            return {name: part for name, part in patch.items() if name != DIRECTIVE}
        case "delete":
            return {}
        case other:
            raise PatchError(f"unknown patch type: {other} in map: {spell_value(patch)}")
    retained = _list(patch.pop(RETAIN_KEYS, None) or [*value])
    value = {name: part for name, part in value.items() if name in retained}
    for name in [name for name in patch if name.startswith(SET_ORDER)]:
        _merge_ordered(value, patch, name, kind)
    for name, part in patch.items():
        if name.startswith(DELETE_FROM):
            of = name.removeprefix(DELETE_FROM)
            value[of] = [item for item in _list(value.get(of) or []) if item not in _list(part)]
        elif part is None:
            value.pop(name, None)
        else:
            _merge_member(value, name, part, kind)
    return value


def _merge_member(value: JSON, name: str, part: Any, kind: Type) -> None:
    before = value.get(name)
    if isinstance(before, dict) and isinstance(part, dict):
        value[name] = _merged_map(before, part, _field(kind, name).type)
    elif isinstance(before, list) and isinstance(part, list):
        field = _field(kind, name)
        value[name] = _list_of(before, part, field) if "merge" in field.strategies else part
    else:
        # What is new holds no directives.
        kept = _without_directed([without_nulls(part)])
        if kept:
            value[name] = kept[0]
        else:
            value.pop(name, None)


def _without_directed(items: list[Any]) -> list[Any]:
    """Return the items without maps that are directives, at any depth."""
    return [
        _drop_directed_parts(item)
        for item in items
        if not (isinstance(item, dict) and DIRECTIVE in item)
    ]


def _drop_directed_parts(value: Any) -> Any:
    if isinstance(value, list):
        return _without_directed(value)
    if isinstance(value, dict):
        return {
            name: _drop_directed_parts(part)
            for name, part in value.items()
            if not (isinstance(part, dict) and DIRECTIVE in part)
        }
    return value


def _field(kind: Type, name: str) -> Field:
    if field := kind.fields.get(name):
        return field
    below = kind.field_type(name)
    if below is None:
        raise PatchError(f'there is no field "{name}" in {kind.name}')
    return Field(below)


def _list_of(before: list[Any], part: list[Any], field: Field) -> list[Any]:
    items = field.type.element or field.type

    def merge(value: JSON, patch: JSON) -> JSON:
        return _merged_map(value, patch, items)

    return merged_list(before, part, field.merge_key, merge)


def _merge_ordered(value: JSON, patch: JSON, directive: str, kind: Type) -> None:
    """Merge a list together with the order that the patch gives for it."""
    order, name = _list(patch.pop(directive)), directive.removeprefix(SET_ORDER)
    field = _field(kind, name)
    before, part = _list(value.get(name) or []), _list(patch.pop(name, None) or [])
    if not before and not part:
        return
    if "merge" in field.strategies:
        part = _list_of(before, part, field) if before else _without_directed(part)
    value[name] = ordered_list(part, order, before, field.merge_key)


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise PatchError("a directive of the patch needs a list")
    return given
