"""Strategic merge patch: as a merge patch, but lists are merged by the schema's key.

Directives in the patch: `$patch` (`delete`, `replace`, `merge`) about the map it stands in,
`$retainKeys` names all that may be left of a map, `$deleteFromPrimitiveList/NAME` takes scalars out
of a list, `$setElementOrder/NAME` gives a list's order.
"""

from __future__ import annotations

from typing import Any

from sandbox.json import JSON, copy_json
from sandbox.patching.errors import internal, make_malformed_error, not_decodable
from sandbox.patching.lists import (
    checked_order,
    merged_list,
    ordered_list,
    without_scalars,
)
from sandbox.patching.merge_patch import OBJECT, without_nulls
from sandbox.schema import Field, Schema, Type
from sandbox.schema.spelling import spell_value, spelled_type

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList"
SET_ORDER = "$setElementOrder"


def strategic_merge(doc: JSON, patch: Any, schema: Schema) -> JSON:
    """Return the patched document; raises `PatchError`."""
    if not isinstance(patch, dict):
        raise not_decodable(patch, OBJECT)
    return _merged_map(copy_json(doc), copy_json(patch), schema.type)


def _merged_map(value: JSON, patch: JSON, kind: Type) -> JSON:
    """Merge into `value`; both are ours to change."""
    if DIRECTIVE in patch:
        return _apply_directive(patch)
    _retain(value, patch)
    for name in [name for name in patch if name.startswith(SET_ORDER)]:
        _merge_ordered(value, patch, name, kind)
    for name, part in patch.items():
        if name.startswith(DELETE_FROM):
            _delete_scalars(value, _suffix(name), part)
        elif part is None:
            value.pop(name, None)
        else:
            _merge_member(value, name, part, kind)
    return value


def _apply_directive(patch: JSON) -> JSON:
    directive = patch[DIRECTIVE]
    if directive == "replace":
        return {name: part for name, part in patch.items() if name != DIRECTIVE}
    if directive == "delete":
        return {}
    raise internal(f"unknown patch type: {spell_value(directive)} in map: {spell_value(patch)}")


def _retain(value: JSON, patch: JSON) -> None:
    if RETAIN_KEYS not in patch:
        return
    names = patch.pop(RETAIN_KEYS)
    if not isinstance(names, list) or any(
        part is not None and not name.startswith((DELETE_FROM, SET_ORDER)) and name not in names
        for name, part in patch.items()
    ):
        raise make_malformed_error("invalid patch format of retainKeys")
    for name in [name for name in value if name not in names]:
        del value[name]


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
        raise internal(
            f'unable to find api field in struct {kind.name} for the json field "{name}"'
        )
    return Field(below)


def _list_of(before: list[Any], part: list[Any], field: Field) -> list[Any]:
    items = field.type.element or field.type

    def merge(value: JSON, patch: JSON) -> JSON:
        return _merged_map(value, patch, items)

    return merged_list(before, part, field.merge_key, merge)


def _delete_scalars(value: JSON, name: str, items: Any) -> None:
    before = value.get(name)
    if isinstance(before, list) and isinstance(items, list):
        value[name] = without_scalars(before, items)
    elif items is None:
        value.pop(name, None)


def _merge_ordered(value: JSON, patch: JSON, directive: str, kind: Type) -> None:
    """Merge a list together with the order that the patch gives for it."""
    order = patch.pop(directive)
    if not isinstance(order, list):
        raise internal(f"expected a []interface {{}}, but received a {spelled_type(order)}")
    name = _suffix(directive)
    field = _field(kind, name)
    before, part = value.get(name), patch.get(name)
    for given in (before, part):
        if given is not None and not isinstance(given, list):
            raise internal(f"expected a []interface {{}}, but received a {spelled_type(given)}")
    checked_order(part or [], order, field.merge_key)
    if before is None and part is None:
        return
    if before is None:
        found = _without_directed(part or [])
    elif part is None:
        found = before
    else:
        found = _list_of(before, part, field) if "merge" in field.strategies else part
    value[name] = ordered_list(found, order, before or [], field.merge_key)
    patch.pop(name, None)


def _suffix(directive: str) -> str:
    prefix, separator, name = directive.partition("/")
    if not separator or prefix not in {DELETE_FROM, SET_ORDER}:
        kind = "primitive list" if directive.startswith(DELETE_FROM) else "setElementOrder list"
        raise make_malformed_error(f"invalid patch format of {kind}")
    return name
