"""Sets of fields, in the form in which managedFields carry them (FieldsV1).

A set is a tree: elements to what lies below them. An element with nothing below it is a member; one
with something below it is a member where `.` stands among it. Sets are values: nothing here changes
one, results share what they can, and elements are kept in the server's order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sandbox.json import JSON, go_json
from sandbox.schema import MISSING, Shape, Type

FieldSet = JSON
LEAF: FieldSet = {}
"""A member with nothing below it."""

EMPTY: FieldSet = {}
"""As a whole set: no member."""


def sorted_set(elements: FieldSet) -> FieldSet:
    """Return one level of a set in order."""
    if len(elements) < 2:  # noqa: PLR2004 - one element is in order
        return elements
    if next(iter(elements))[:2] in {"f:", SELF} and all(name[0] in "f." for name in elements):
        return dict(sorted(elements.items()))
    return {element: elements[element] for element in sorted(elements, key=order_of)}


def canonical(elements: FieldSet) -> FieldSet:
    """Return a set that somebody else wrote in the one form that equal sets share.

    Elements of unknown kinds are dropped. Raises ValueError for what is no element.
    """
    return sorted_set(
        {element: _canonical_node(node) for element, node in elements.items() if is_known(element)}
    )


def _canonical_node(node: FieldSet) -> FieldSet:
    below = canonical(node)
    return LEAF if set(below) == {SELF} else below


def fit_to_schema(elements: FieldSet, kind: Type) -> FieldSet:
    """Return a canonical set in which what the schema calls atomic is one field."""
    return {element: _fitted_node(element, node, kind) for element, node in elements.items()}


def _fitted_node(element: str, node: FieldSet, kind: Type) -> FieldSet:
    below = kind.field_type(element[2:] if element.startswith("f:") else "")
    if not node or below is None:
        return node
    return LEAF if below.is_atomic else fit_to_schema(node, below)


def is_member(node: FieldSet) -> bool:
    """Tell whether the element over a node is a member itself."""
    return not node or SELF in node


def with_member(node: FieldSet) -> FieldSet:
    """Return a node whose element is a member, whatever it was."""
    return node if is_member(node) else {SELF: LEAF, **node}


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return what is in either set."""
    if not one or one is other:
        return other
    found = dict(one)
    has_more = False
    for element, node in other.items():
        mine = one.get(element)
        if mine is None:
            has_more = True
            found[element] = node
        elif mine is not node:
            found[element] = _union_node(mine, node)
    return sorted_set(found) if has_more else found


def _union_node(one: FieldSet, other: FieldSet) -> FieldSet:
    if not one:
        return with_member(other)
    return union(one, other) if other else with_member(one)


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the members of `one` that are not members of `other`; `one` itself if that is all.

    A member of `other` takes away itself alone, not what lies below it.
    """
    found = one
    for element, node in other.items():
        mine = one.get(element)
        if mine is None:
            continue
        left = _difference_node(mine, node)
        if left is mine:
            continue
        if found is one:
            found = dict(one)
        if left is None:
            del found[element]
        else:
            found[element] = left
    return found


def _difference_node(one: FieldSet, other: FieldSet) -> FieldSet | None:
    """Return what is left of a node, None where nothing is."""
    stays = is_member(one) and not is_member(other)
    if not one:
        return one if stays else None
    if not other:
        below = one
        if SELF in one:
            below = {element: node for element, node in one.items() if element != SELF}
    else:
        below = difference(one, other)
        if below is one:
            return one
    if not below:
        return None
    return LEAF if set(below) == {SELF} else below


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return what is in both sets."""
    found = {}
    for element, node in one.items():
        theirs = other.get(element)
        if theirs is not None and (both := _intersection_node(node, theirs)) is not None:
            found[element] = both
    return found


def _intersection_node(one: FieldSet, other: FieldSet) -> FieldSet | None:
    below = intersection(one, other)
    below.pop(SELF, None)
    if not (is_member(one) and is_member(other)):
        return below or None
    return {SELF: LEAF, **below} if below else LEAF


def without_trees(one: FieldSet, roots: FieldSet) -> FieldSet:
    """Return `one` without the members of `roots` and all that lies below them."""
    found = one
    for element, root in roots.items():
        mine = one.get(element)
        if mine is None:
            continue
        left = None if is_member(root) else without_trees(mine, root)
        if left is mine:
            continue
        if found is one:
            found = dict(one)
        if left:
            found[element] = LEAF if set(left) == {SELF} else left
        else:
            del found[element]
    return found


def with_structs(one: FieldSet, kind: Type) -> FieldSet:
    """Return a set in which a struct's field is a member wherever something below it is.

    Removal needs it: a struct that nobody owns goes when all of its fields do.
    """
    return {
        element: _with_structs_node(element, node, kind) if node and element != SELF else node
        for element, node in one.items()
    }


def _with_structs_node(element: str, node: FieldSet, kind: Type) -> FieldSet:
    name = element[2:] if element.startswith("f:") else ""
    below = kind.field_type(name)
    inner = with_structs(node, below) if below else node
    is_field = kind.shape is Shape.STRUCT and name in kind.fields
    return with_member(inner) if is_field else inner


def paths(one: FieldSet, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every member as the elements that lead to it, in order."""
    for element, node in one.items():
        if element == SELF:
            continue
        here = (*above, element)
        if is_member(node):
            yield here
        yield from paths(node, here)


SELF = "."

_CACHED_ELEMENTS = 16_384


class ElementError(Exception):
    """An item that cannot be told apart from the others of its list."""


def item_element(item: Any, items: Type) -> str:
    """Return the element of an item of an associative list; raises `ElementError`.

    Keys that the item leaves out count with the default that the schema declares for them.
    """
    if not items.keys:
        return _set_element(item)
    if item is None:
        raise ElementError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise ElementError("associative list with keys may not have non-map elements")
    if len(items.keys) == 1 and isinstance(value := item.get(items.keys[0]), str):
        return _one_key_element(items.keys[0], value)
    return _keyed_element(item, items)


def _keyed_element(item: dict[str, Any], items: Type) -> str:
    found = {}
    for key in items.keys:
        field = items.element.fields.get(key) if items.element else None
        value = item.get(key, field.default if field else MISSING)
        if value is not MISSING:
            found[key] = value
    if not found:
        keys = " ".join(f'"{key}"' for key in items.keys)
        raise ElementError(
            f"associative list with keys has an element that omits all key fields [{keys}]"
            " (and doesn't have default values for any key fields)"
        )
    return f"k:{go_json(found)}"


def _set_element(item: Any) -> str:
    if isinstance(item, dict):
        raise ElementError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise ElementError("not supported: associative list with lists as elements")
    if item is None:
        raise ElementError("associative list without keys has an element that's an explicit null")
    return f"v:{go_json(item)}"


@lru_cache(_CACHED_ELEMENTS)
def _one_key_element(key: str, value: str) -> str:
    return f"k:{go_json({key: value})}"


def is_known(element: str) -> bool:
    """Tell whether an element is of a kind that is kept; raises ValueError for no element."""
    if element != SELF and element[1:2] != ":":
        raise ValueError(f"missing colon: {element}")
    return element == SELF or element[0] in "fikv"


@lru_cache(_CACHED_ELEMENTS)
def order_of(element: str) -> tuple[Any, ...]:
    """Return what elements are sorted by: fields by name, then keys and values by what they are."""
    if element.startswith("k:"):
        return (2, tuple((key, _rank(value)) for key, value in json.loads(element[2:]).items()))
    if element.startswith("i:"):
        return (4, int(element[2:]))
    if element.startswith("v:"):
        return (3, _rank(json.loads(element[2:])))
    return (1, element) if element != SELF else (0, element)


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (2, value)
    return (0, value) if isinstance(value, int | float) else (1, str(value))


@lru_cache(_CACHED_ELEMENTS)
def describe_element(element: str) -> str:
    """Return an element as messages name it: `.spec`, `[name="app"]`, `[="finalizer"]`."""
    kind, text = element[:2], element[2:]
    if kind == "k:":
        keys = json.loads(text).items()
        return f"[{','.join(f'{key}={_spoken_value(value)}' for key, value in keys)}]"
    if kind == "v:":
        return f"[={_spoken_value(json.loads(text))}]"
    return f"[{text}]" if kind == "i:" else f".{text}"


def _spoken_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
