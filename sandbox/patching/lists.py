"""Lists of a strategic merge patch: merged by key, then put into the order that the patch gives.

The order given has precedence over the order of the patch's items, and that over the live list's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.json import JSON
from sandbox.patching.errors import PatchError, inapplicable, internal
from sandbox.schema.spelling import spell_value, spelled_type

DIRECTIVE = "$patch"
Merge = Callable[[JSON, JSON], JSON]


def merged_list(before: list[Any], patch: list[Any], key: str, merge: Merge) -> list[Any]:
    """Return a live list with the patch's items merged in; `merge` is for items of one key."""
    if not before and not patch:
        return before
    if not _are_maps(before, patch):
        return _merged_scalars(before, patch)
    if not key:
        raise internal("cannot merge lists without merge key")
    live, items = _without_directed(before, patch, key)
    found = list(live)
    for item in items:
        index = _index_by_key(found, _key_of(item, key), key)
        if index is None:
            found.append(item)
        else:
            found[index] = merge(found[index], item)
    return ordered_list(found, items, live, key)


def without_scalars(before: list[Any], items: list[Any]) -> list[Any]:
    """Return a list of scalars without some of them."""
    return [item for item in before if item not in items]


def _merged_scalars(before: list[Any], patch: list[Any]) -> list[Any]:
    found = _unique([*before, *patch])
    return ordered_list(found, patch, before, "")


def _unique(items: list[Any]) -> list[Any]:
    """Return a list without repetitions; as on the server, the last item fills the gap."""
    found = list(items)
    index = 0
    while index < len(found) - 1:
        other = index + 1
        while other < len(found):
            if found[other] == found[index]:
                found[other] = found[-1]
                found.pop()
            else:
                other += 1
        index += 1
    return found


def _are_maps(*lists: list[Any]) -> bool:
    kinds = {spelled_type(item) for items in lists for item in items}
    if len(kinds) > 1:
        raise internal(f"list element types are not identical: {spell_value(list(lists))}")
    if kinds == {"[]interface {}"}:
        raise inapplicable("lists of lists are not supported")
    return kinds == {"map[string]interface {}"}


def _without_directed(before: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Return the live list without what the patch deletes, and the patch's plain items."""
    live, items, is_replaced = before, [], False
    for item in patch:
        directive = item.get(DIRECTIVE)
        if DIRECTIVE not in item:
            items.append(item)
        elif directive == "delete":
            gone = _key_of(item, key)
            live = [one for one in live if _key_of(one, key) != gone]
        elif directive == "replace":
            is_replaced = True
        elif directive == "merge":
            raise internal("merging lists cannot yet be specified in the patch")
        else:
            raise internal(
                f"unknown patch type: {spell_value(directive)} in map: {spell_value(item)}"
            )
    return (items, []) if is_replaced else (live, items)


def _key_of(item: Any, key: str) -> Any:
    """Return what identifies an item; without a key it is the item itself."""
    if not key:
        return item
    if not isinstance(item, dict):
        raise _not_a_map(item)
    if key not in item:
        raise internal(f"map: {spell_value(item)} does not contain declared merge key: {key}")
    return item[key]


def _not_a_map(item: Any) -> PatchError:
    return internal(f"expected a map[string]interface {{}}, but received a {spelled_type(item)}")


def _index_by_key(items: list[Any], value: Any, key: str) -> int | None:
    return next((at for at, item in enumerate(items) if _key_of(item, key) == value), None)


def checked_order(patch: list[Any], order: list[Any], key: str) -> None:
    """Raise `PatchError` where the order does not name the patch's items in their order."""
    waiting = [item for item in patch if not (isinstance(item, dict) and DIRECTIVE in item)]
    if not order:
        return
    at = 0
    for item in waiting:
        wanted = _key_of(item, key)
        while at < len(order) and _key_of(order[at], key) != wanted:
            at += 1
        if at == len(order):
            raise internal(
                f"The order in patch list:\n{spell_value(patch)}\n doesn't match"
                f" $setElementOrder list:\n{spell_value(order)}\n"
            )
        at += 1


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
