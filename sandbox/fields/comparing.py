"""What differs between two objects, as sets of fields: the base of every ownership.

The rules are those of structured-merge-diff: lists and maps that the schema calls atomic, and empty
ones, are compared as one value; what is there on one side alone counts with every place in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.fields.sets import EMPTY, LEAF, SELF, FieldSet, item_element, sorted_set, union
from sandbox.schema import MISSING, Shape, Type

Node = FieldSet | None
Difference = tuple[Node, Node]
"""What was written (added or modified) and removed at a place and below it; None for nothing."""

SAME: Difference = (None, None)
_MODIFIED: Difference = (LEAF, None)
_TWICE = 2

_NOTHING = (MISSING, None)
"""The server writes null for some fields that nobody set, and others it leaves out."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields that differ: `written` is what the older had not, or had otherwise."""

    written: FieldSet
    removed: FieldSet

    @property
    def every(self) -> FieldSet:
        """All of them."""
        return union(self.written, self.removed)


def compare(old: Any, new: Any, kind: Type) -> Comparison:
    """Return what became of `old`; both are whole objects of a type."""
    written, removed = _values(old, new, kind)
    return Comparison(written or EMPTY, removed or EMPTY)


def _values(old: Any, new: Any, kind: Type) -> Difference:
    if old in _NOTHING and new in _NOTHING:
        return SAME
    if old is MISSING:
        return whole(new, kind), None
    if new is MISSING:
        return None, whole(old, kind)
    if old is new or old == new:
        return SAME
    if not kind.is_atomic:
        if both_are(dict, old, new) and kind.shape in {Shape.STRUCT, Shape.MAP, Shape.ANY}:
            return _maps(old or {}, new or {}, kind)
        if both_are(list, old, new) and kind.shape is Shape.LIST:
            return _lists(old or [], new or [], kind)
    return _MODIFIED


def both_are(form: type, old: Any, new: Any) -> bool:
    """Tell whether both are of a form; null is an empty one, and one side must hold something."""
    return (
        (old is None or isinstance(old, form))
        and (new is None or isinstance(new, form))
        and bool(old or new)
    )


def _maps(old: Mapping[str, Any], new: Mapping[str, Any], kind: Type) -> Difference:
    if kind.zero:
        old, new = {**kind.zero, **old}, {**kind.zero, **new}
    found: list[tuple[str, Difference]] = []
    for name, value in new.items():
        before = old.get(name, MISSING)
        if value is not before:
            found.append((f"f:{name}", _values(before, value, kind.field_type(name) or kind)))
    for name, value in old.items():
        if name not in new:
            found.append((f"f:{name}", _values(value, MISSING, kind.field_type(name) or kind)))
    return _join_differences(found)


def _lists(old: list[Any], new: list[Any], kind: Type) -> Difference:
    before, after = _by_element(old, kind), _by_element(new, kind)
    items = kind.element or kind
    found = [
        (element, _items(before.get(element, []), after.get(element, []), items))
        for element in {**before, **after}
    ]
    return _join_differences(found)


def _by_element(items: list[Any], kind: Type) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(item_element(item, kind), []).append(item)
    return found


def _items(old: list[Any], new: list[Any], kind: Type) -> Difference:
    """Compare the items of one element: one on either side, or duplicates, which count as one."""
    if len(old) < _TWICE and len(new) < _TWICE:
        return _values(old[0] if old else MISSING, new[0] if new else MISSING, kind)
    if len(old) >= _TWICE and len(new) >= _TWICE:
        return SAME if old == new else _MODIFIED
    if len(old) >= _TWICE:
        return (whole(new[0], kind) if new else None), LEAF
    return LEAF, (whole(old[0], kind) if old else None)


def _join_differences(found: list[tuple[str, Difference]]) -> Difference:
    written = {element: more for element, (more, _) in found if more is not None}
    removed = {element: less for element, (_, less) in found if less is not None}
    return sorted_set(written) or None, sorted_set(removed) or None


def whole(value: Any, kind: Type) -> FieldSet:
    """Return every place of a value, itself included."""
    if kind.is_atomic or not value:
        # A struct's zeros are written even where it is empty.
        is_empty_struct = isinstance(value, dict) and kind.zero and not kind.is_atomic
        return whole(kind.zero, kind) if is_empty_struct else LEAF
    if isinstance(value, dict) and kind.shape in {Shape.STRUCT, Shape.MAP, Shape.ANY}:
        members = {**kind.zero, **value} if kind.zero else value
        below = {
            f"f:{name}": whole(part, kind.field_type(name) or kind)
            for name, part in members.items()
        }
    elif isinstance(value, list) and kind.shape is Shape.LIST:
        items = kind.element or kind
        below = {
            element: whole(found[0], items) if len(found) < _TWICE else LEAF
            for element, found in _by_element(value, kind).items()
        }
    else:
        return LEAF
    return sorted_set({SELF: LEAF, **below})
