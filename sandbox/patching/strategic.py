"""Strategic merge patch: as a merge patch, but lists are merged by the schema's key.

Directives in the patch: `$patch` (`delete`, `replace`) about the map it stands in, `$retainKeys`
names all that may be left of a map, `$deleteFromPrimitiveList/NAME` takes scalars out of a list,
`$setElementOrder/NAME` gives a list's order.
"""

from __future__ import annotations

from typing import Any

from sandbox.json import JSON, copy_json
from sandbox.patching.errors import PatchError
from sandbox.patching.lists import DIRECTIVE, merged_list, ordered_list
from sandbox.patching.merge_patch import without_nulls
from sandbox.schema import Field, Schema, Type
from sandbox.schema.spelling import spell_value

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
