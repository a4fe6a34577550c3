"""An object without some of its fields."""

from __future__ import annotations

from typing import Any

from sandbox.fields.elements import item_element
from sandbox.fields.sets import FieldSet, is_member
from sandbox.schema import Shape, Type


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
