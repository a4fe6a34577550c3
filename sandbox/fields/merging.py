"""The live object with an applied configuration laid over it, and what goes from it afterwards.

What an applier no longer asks for goes, unless somebody else owns it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from sandbox.fields.comparing import both_are
from sandbox.fields.managed import Entry
from sandbox.fields.sets import (
    LEAF,
    SELF,
    FieldSet,
    difference,
    intersection,
    is_member,
    item_element,
    sorted_set,
    union,
    with_member,
    with_structs,
)
from sandbox.json import JSON
from sandbox.schema import MISSING, Shape, Type


def merge_values(live: Any, applied: Any, kind: Type) -> Any:
    """Return what the applied value makes of the live one; nothing of either is changed.

    Leaves are replaced, maps and associative lists are merged. A null replaces a leaf, and leaves
    what is merged as it is.
    """
    if applied is MISSING:
        return live
    if live is MISSING or kind.is_atomic:
        return applied
    if kind.shape in {Shape.STRUCT, Shape.MAP, Shape.ANY} and both_are(dict, live, applied):
        return _merged_maps(live or {}, applied or {}, kind)
    if kind.shape is Shape.LIST and both_are(list, live, applied):
        return _ListMerge(live or [], applied or [], kind).result()
    return applied


def _merged_maps(live: dict[str, Any], applied: dict[str, Any], kind: Type) -> dict[str, Any]:
    found = dict(live)
    for name, value in applied.items():
        below = kind.field_type(name) or kind
        found[name] = merge_values(live.get(name, MISSING), value, below)
    return found


class _ListMerge:
    """Two associative lists, walked side by side.

    Items of the applied list keep their order; those that are live alone stay behind the item that
    they followed, as far as that order allows.
    """

    def __init__(self, live: list[Any], applied: list[Any], kind: Type) -> None:
        self._kind = kind.element or kind
        mine = [item_element(item, kind) for item in applied]
        theirs = [item_element(item, kind) for item in live]
        self._applied = dict(zip(mine, applied, strict=True))
        self._live: dict[str, Any] = {}
        for element, item in zip(theirs, live, strict=True):
            self._live[element] = MISSING if element in self._live else item
        self._mine = deque(mine)
        self._theirs = deque(zip(theirs, live, strict=True))
        self._shared = deque(element for element in mine if element in self._live)
        self._taken: set[str] = set()
        self._found: list[Any] = []

    def result(self) -> list[Any]:
        """Return the merged list."""
        while self._theirs:
            element, item = self._theirs[0]
            if element not in self._applied:
                self._found.append(item)
                self._theirs.popleft()
            elif element in self._taken or (self._shared and self._shared[0] != element):
                # Taken before, or the applied list has another shared item before this one.
                self._theirs.popleft()
            else:
                while element not in self._taken:
                    self._take()
                self._theirs.popleft()
        while self._mine:
            self._take()
        return self._found

    def _take(self) -> None:
        element = self._mine.popleft()
        self._taken.add(element)
        if self._shared and self._shared[0] == element:
            self._shared.popleft()
        before = self._live.get(element, MISSING)
        self._found.append(merge_values(before, self._applied[element], self._kind))


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
