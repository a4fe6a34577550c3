"""The fields that an applied configuration sets: what its manager will own."""

from __future__ import annotations

from typing import Any

from sandbox.fields.elements import SELF, item_element
from sandbox.fields.sets import LEAF, FieldSet, sorted_set, with_member
from sandbox.schema import Shape, Type


def field_set(value: Any, kind: Type) -> FieldSet:
    """Return the fields of an object.

    Leaves are in it, items of lists, entries of maps and empty maps; structs and associative lists
    are not themselves. An item that comes twice counts as one field.
    """
    return _node(value, kind) or {}


def _node(value: Any, kind: Type) -> FieldSet | None:
    """Return what a place adds below its parent, None for nothing."""
    if kind.is_atomic:
        return LEAF
    if isinstance(value, dict) and kind.shape in {Shape.STRUCT, Shape.MAP, Shape.ANY}:
        return _map_node(value, kind) if value else LEAF
    if isinstance(value, list) and kind.shape is Shape.LIST:
        return _list_node(value, kind)
    return LEAF


def _map_node(value: dict[str, Any], kind: Type) -> FieldSet | None:
    found = {}
    for name, part in value.items():
        node = _node(part, kind.field_type(name) or kind)
        if name not in kind.fields:
            node = LEAF if node is None else with_member(node)
        if node is not None:
            found[f"f:{name}"] = node
    return sorted_set(found) if found else None


def _list_node(value: list[Any], kind: Type) -> FieldSet | None:
    found: FieldSet = {}
    for item in value:
        element = item_element(item, kind)
        if element in found:
            found[element] = LEAF
        else:
            below = _node(item, kind.element or kind)
            found[element] = {SELF: LEAF, **below} if below else LEAF
    return sorted_set(found) if found else None
