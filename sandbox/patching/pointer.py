"""Where an operation of a JSON patch works: a pointer (RFC 6901) into a document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sandbox.patching.errors import PatchError, inapplicable

_INDEX = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Place:
    """One member of an object or item of a list, which need not be there."""

    parent: dict[str, Any] | list[Any]
    key: str

    def get(self) -> Any:
        """Return the value; None for a member that is missing, an error for an item."""
        if isinstance(self.parent, dict):
            return self.parent.get(self.key)
        return self.parent[self._item()]

    def add(self, value: Any) -> None:
        """Set a member, or insert an item; `-` is the place behind the last."""
        if isinstance(self.parent, dict):
            self.parent[self.key] = value
        elif self.key == "-":
            self.parent.append(value)
        else:
            self.parent.insert(self._index(len(self.parent) + 1), value)

    def replace(self, value: Any) -> None:
        """Set a member, missing or not, or an item that is there."""
        if isinstance(self.parent, dict):
            self.parent[self.key] = value
        else:
            self.parent[self._item()] = value

    def remove(self) -> None:
        """Remove what is there; nothing there is an error."""
        if isinstance(self.parent, list):
            del self.parent[self._item()]
        elif self.key in self.parent:
            del self.parent[self.key]
        else:
            raise inapplicable(f"Unable to remove nonexistent key: {self.key}: missing value")

    def _item(self) -> int:
        return self._index(len(self.parent))

    def _index(self, length: int) -> int:
        """Return the index that the key says; negative ones count from the end."""
        if not _INDEX.fullmatch(self.key):
            raise inapplicable(f"value was not a proper array index: '{self.key}'")
        index = int(self.key)
        if not -length <= index < length:
            raise self._out_of_range(index)
        return index if index >= 0 else index + length

    @staticmethod
    def _out_of_range(index: int) -> PatchError:
        return inapplicable(f"Unable to access invalid index: {index}: invalid index referenced")


def place_at(document: Any, pointer: str) -> Place | None:
    """Return the place that a pointer names, None where the way to it ends before."""
    steps = [_unescape_step(step) for step in pointer.split("/")[1:]]
    if not steps:
        return None
    here = document
    for step in steps[:-1]:
        if not isinstance(here, dict | list):
            return None
        try:
            here = Place(here, step).get()
        except PatchError:
            return None
    return Place(here, steps[-1]) if isinstance(here, dict | list) else None


def _unescape_step(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
