"""Lists of a strategic merge patch: merged by key, then put into the order that the patch gives.

The order given has precedence over the order of the patch's items, and that over the live list's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.json import JSON
from sandbox.patching.errors import PatchError
from sandbox.schema.spelling import spell_value

DIRECTIVE = "$patch"
Merge = Callable[[JSON, JSON], JSON]


def merged_list(before: list[Any], patch: list[Any], key: str, merge: Merge) -> list[Any]:
    """Return a live list with the patch's items merged in; `merge` is for items of one key."""
    if not any(isinstance(item, dict) for item in [*before, *patch]):
        found = [*before, *(item for item in patch if item not in before)]
        return ordered_list(found, patch, before, "")
    if not all(isinstance(item, dict) for item in [*before, *patch]):
        raise PatchError("a list holds objects or scalars, not both")
    live, items = _without_directed(before, patch, key)
    found = list(live)
    for item in items:
        index = _index_by_key(found, _key_of(item, key), key)
        if index is None:
            found.append(item)
        else:
            found[index] = merge(found[index], item)
    return ordered_list(found, items, live, key)


def _without_directed(before: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
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
