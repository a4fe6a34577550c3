"""The live object with an applied configuration laid over it, before anything is pruned."""

from __future__ import annotations

from collections import deque
from typing import Any

from sandbox.fields.comparing import both_are
from sandbox.fields.elements import item_element
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
        return _merged_lists(live or [], applied or [], kind)
    return applied


def _merged_maps(live: dict[str, Any], applied: dict[str, Any], kind: Type) -> dict[str, Any]:
    found = dict(live)
    for name, value in applied.items():
        below = kind.field_type(name) or kind
        found[name] = merge_values(live.get(name, MISSING), value, below)
    return found


def _merged_lists(live: list[Any], applied: list[Any], kind: Type) -> list[Any]:
    """Merge two associative lists.

    Items of the applied list keep their order; those that are live alone stay behind the item that
    they followed, as far as that order allows.
    """
    return _ListMerge(live, applied, kind).result()


class _ListMerge:
    """Two lists, walked side by side."""

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
            elif element in self._taken or self._is_out_of_turn(element):
                self._theirs.popleft()
            else:
                self._take_until(element)
        while self._mine:
            self._take()
        return self._found

    def _is_out_of_turn(self, element: str) -> bool:
        """Whether the applied list has another shared item before this one."""
        return bool(self._shared) and self._shared[0] != element

    def _take_until(self, element: str) -> None:
        """Take the applied items up to one that is live too."""
        while element not in self._taken:
            self._take()
        self._theirs.popleft()

    def _take(self) -> None:
        element = self._mine.popleft()
        self._taken.add(element)
        if self._shared and self._shared[0] == element:
            self._shared.popleft()
        before = self._live.get(element, MISSING)
        self._found.append(merge_values(before, self._applied[element], self._kind))
