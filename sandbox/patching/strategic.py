"""Strategic merge patch: as a merge patch, but lists are merged by the schema's key.

Directives in the patch: `$patch` (`delete`, `replace`) about the map it stands in, `$retainKeys`
names all that may be left of a map, `$deleteFromPrimitiveList/NAME` takes scalars out of a list,
`$setElementOrder/NAME` gives a list's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.json import JSON, copy_json
from sandbox.patching.json_patch import PatchError, without_nulls
from sandbox.schema import Field, Schema, Type
from sandbox.schema.types import spell_value

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
        index = _index_by_key(found, _key_of(item, key), key)
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


def _index_by_key(items: list[Any], value: Any, key: str) -> int | None:
    return next((at for at, item in enumerate(items) if _key_of(item, key) == value), None)


def ordered_list(items: list[Any], order: list[Any], live: list[Any], key: str) -> list[Any]:
    """Return the items, those that `order` names as it has them, the others where they were."""
    named = [_key_of(item, key) for item in order]
    places = [_key_of(item, key) for item in live]
    mine = [item for item in items if _key_of(item, key) in named]
    others = [item for item in items if _key_of(item, key) not in named]
    mine.sort(key=lambda item: named.index(_key_of(item, key)))
    found: list[Any] = []
    for item in mine:
        place = _place(item, places, key)
        while others and _place(others[0], places, key) < place:
            found.append(others.pop(0))
        found.append(item)
    return found + others


def _place(item: Any, places: list[Any], key: str) -> int:
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
        _take(value, name, part)


def _take(value: JSON, name: str, part: Any) -> None:
    """Set a member to what the patch says, which holds no directives then."""
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
