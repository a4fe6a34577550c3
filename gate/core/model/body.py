"""A JSON object as a value: canonical bytes, compared and hashed by their digest.

`FrozenMap` is the mapping that frozen values hold, so that a search may visit whole attempts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, repeat
from typing import Any, Final, TypeVar, cast, overload

from gate.core.frozen import dataclass

Key = TypeVar("Key")
Value = TypeVar("Value")
Other = TypeVar("Other")
_NONE: Final = object()
NOTHING: Final = ""
"""The digest of what is not there: no object, or nothing that our manager applied of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """An immutable JSON object.

    `canonical` has sorted keys and no white space; equality and hash are those of `digest`.
    """

    canonical: bytes
    digest: str

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Body:
        """Freeze `value`, any JSON object."""
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        canonical = text.encode("utf-8", "surrogatepass")
        return cls(canonical, hashlib.sha256(canonical).hexdigest())

    def thaw(self) -> dict[str, Any]:
        """Return a fresh, mutable copy."""
        return cast("dict[str, Any]", json.loads(self.canonical.decode("utf-8", "surrogatepass")))

    def __eq__(self, other: object) -> bool:
        """Two bodies are equal when their digests are."""
        return isinstance(other, Body) and other.digest == self.digest

    def __hash__(self) -> int:
        """Hash by digest."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Show the digest alone: a body may hold what no output should show."""
        return f"Body({self.digest[:12]})"


class FrozenMap(Mapping[Key, Value]):
    """A hashable mapping; `put` and `drop` return changed copies.

    What `Mapping` would derive by iterating is forwarded to the dict: the judge asks often.
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        """Copy `items`."""
        self._items: dict[Key, Value] = dict(items)

    def __getitem__(self, key: Key) -> Value:
        """Return the value at `key`; KeyError if there is none."""
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        """Tell whether `key` is there."""
        return key in self._items

    def __iter__(self) -> Iterator[Key]:
        """Iterate the keys in the order of insertion."""
        return iter(self._items)

    def __len__(self) -> int:
        """Count the keys."""
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        """Compare as dicts do, without regard to order."""
        return isinstance(other, FrozenMap) and self._items == other._items

    def __hash__(self) -> int:
        """Hash without regard to order, as equality does."""
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        """Show it as the dict that it wraps."""
        return f"FrozenMap({self._items!r})"

    @overload
    def get(self, key: Key, /) -> Value | None: ...
    @overload
    def get(self, key: Key, /, default: Value | Other) -> Value | Other: ...
    def get(self, key: Key, /, default: Any = None) -> Any:
        """Return the value at `key`, `default` if there is none."""
        return self._items.get(key, default)

    def keys(self) -> KeysView[Key]:
        """View the keys."""
        return self._items.keys()

    def values(self) -> ValuesView[Value]:
        """View the values."""
        return self._items.values()

    def items(self) -> ItemsView[Key, Value]:
        """View keys and values."""
        return self._items.items()

    def put(self, key: Key, value: Value) -> FrozenMap[Key, Value]:
        """Return a copy with `key` set."""
        changed: FrozenMap[Key, Value] = FrozenMap()
        changed._items = self._items.copy()
        changed._items[key] = value
        return changed

    def put_all(self, items: Mapping[Key, Value]) -> FrozenMap[Key, Value]:
        """Return a copy with `items` set, itself if there are none."""
        if not items:
            return self
        changed: FrozenMap[Key, Value] = FrozenMap()
        changed._items = {**self._items, **items}
        return changed

    def changed_since(self, earlier: FrozenMap[Key, Value]) -> Iterator[tuple[Key, Value]]:
        """Iterate the items whose value is not the same object as in `earlier`."""
        if self is earlier:
            return
        others = chain(earlier._items.items(), repeat((_NONE, _NONE)))
        for (key, value), (same, other) in zip(self._items.items(), others, strict=False):
            is_same = key is same and value is other
            if not is_same and earlier._items.get(key, _NONE) is not value:
                yield key, value

    def drop(self, key: Key) -> FrozenMap[Key, Value]:
        """Return a copy without `key`, itself if there is none."""
        if key not in self._items:
            return self
        changed: FrozenMap[Key, Value] = FrozenMap(self._items)
        del changed._items[key]
        return changed


def contains(sent: Any, live: Any) -> bool:
    """Tell whether `live` has all of a body that was sent; for use without a dry run.

    Lists of named items are matched by name, other lists item by item; null matches a missing
    value.
    """
    if isinstance(sent, Mapping):
        found = live if isinstance(live, Mapping) else {}
        return all(contains(value, found.get(key)) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(live, list):
        if all(isinstance(one, Mapping) and "name" in one for one in (*sent, *live)):
            named = {one["name"]: one for one in live}
            return all(contains(one, named.get(one["name"])) for one in sent)
        return len(sent) == len(live) and all(map(contains, sent, live))
    return bool(sent == live)
