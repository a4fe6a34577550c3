"""The fields that a configuration sets, an object without some fields, and pruning by both.

What an applier no longer asks for goes, unless somebody else owns it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandbox.fields.elements import SELF, item_element
from sandbox.fields.managed import Entry
from sandbox.fields.sets import (
    LEAF,
    FieldSet,
    difference,
    intersection,
    is_member,
    sorted_set,
    union,
    with_member,
    with_structs,
)
from sandbox.json import JSON
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


def without(value: Any, fields: FieldSet, kind: Type) -> Any:
    """Return a value without the members of a set, and all that is below them.

    A map or a list that loses all that it held becomes null, which the server does not write.
    """
    if kind.is_atomic or not value:
        return value if kind.shape not in {Shape.LIST, Shape.STRUCT, Shape.MAP} else None
    if isinstance(value, dict):
        return _map_without(value, fields, kind)
    if isinstance(value, list) and kind.shape is Shape.LIST:
        return _list_without(value, fields, kind)
    return value


def _map_without(value: dict[str, Any], fields: FieldSet, kind: Type) -> dict[str, Any] | None:
    found = {}
    for name, part in value.items():
        node = fields.get(f"f:{name}")
        if node is None:
            found[name] = part
        elif not is_member(node):
            found[name] = without(part, node, kind.field_type(name) or kind)
    return found or None


def _list_without(value: list[Any], fields: FieldSet, kind: Type) -> list[Any] | None:
    found = []
    for item in value:
        node = fields.get(item_element(item, kind))
        if node is None:
            found.append(item)
        elif not is_member(node):
            found.append(without(item, node, kind.element or kind))
    return found or None


def prune_fields(body: JSON, last: FieldSet, owners: Iterable[Entry], kind: Type) -> JSON:
    """Return the merged object without what the manager applied last and nobody owns now.

    `owners` holds the manager's entry as it is now. What nobody owned before either (defaults)
    stays, but for what lies inside of an item that goes.
    """
    owned: FieldSet = {}
    for entry in owners:
        owned = union(owned, entry.fields)
    if not difference(last, owned):
        return body
    last, owned = with_structs(last, kind), with_structs(owned, kind)
    everything = _all(body, kind)
    kept = union(_all(without(body, last, kind), kind), owned)
    bare = without(body, difference(everything, kept), kind)
    gone = intersection(difference(everything, _all(bare, kind)), last)
    found: JSON = without(body, gone, kind) or {}
    return found


def _all(body: JSON | None, kind: Type) -> FieldSet:
    return with_structs(field_set(body or {}, kind), kind)
