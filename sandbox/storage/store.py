"""The store: every object by its key, one version counter for all, as etcd has.

What it holds is never changed in place: whoever changes an object puts a copy. Readers get the
stored objects themselves. Listeners hear of each change right after it, in the order in which
they began to listen, and must not write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from sys import intern
from typing import Any

from sandbox.json import JSON
from sandbox.storage.change import (
    KEPT_CHANGES,
    Change,
    ChangeType,
    Expired,
    History,
    Key,
    at_version,
)

INTERNED_LENGTH = 64
"""Strings up to this length recur (kinds, phases, names of fields); longer ones hardly do."""


def share_parts(value: Any, like: Any) -> Any:
    """Return a value equal to `value`, made of the parts of `like` wherever those are equal."""
    if value is like or value == like:
        return like
    if type(value) is dict:
        known = like if type(like) is dict else {}
        return {intern(key): share_parts(item, known.get(key)) for key, item in value.items()}
    if type(value) is list:
        return _shared_list(value, like if type(like) is list else [])
    if type(value) is str and len(value) <= INTERNED_LENGTH:
        return intern(value)
    return value


def _shared_list(value: list[Any], like: list[Any]) -> list[Any]:
    beside = [*like, *[None] * (len(value) - len(like))]
    return [share_parts(item, other) for item, other in zip(value, beside, strict=False)]


__all__ = ["Change", "ChangeType", "Expired", "Key", "Store"]

Hear = Callable[[Change], None]


class _Shelf:
    """The objects of one resource, by namespace and name."""

    def __init__(self, history: History) -> None:
        self.namespaces: dict[str, dict[str, JSON]] = defaultdict(dict)
        self.history = history
        self.listeners: list[Hear] = []
        self.latest: JSON = {}


class Store:
    """Objects, their versions and their history."""

    def __init__(self, *, version: int = 1, kept_changes: int = KEPT_CHANGES) -> None:
        """Begin empty at a version; keep that many changes of each resource."""
        self._version = version
        self._kept = kept_changes
        self._shelves: dict[str, _Shelf] = {}

    @property
    def version(self) -> int:
        """The version of the last change."""
        return self._version

    def get(self, key: Key) -> JSON | None:
        """Return the object at a key, None where there is none."""
        return self._shelf(key.resource).namespaces.get(key.namespace, {}).get(key.name)

    def items(self, resource: str, namespace: str = "") -> list[JSON]:
        """Return the objects of a resource sorted by namespace and name; of one or of all."""
        spaces = self._shelf(resource).namespaces
        names = [namespace] if namespace else sorted(spaces, key=_before_slash)
        found = (sorted(spaces.get(space, {}).items()) for space in names)
        return [body for space in found for _, body in space]

    def put(self, key: Key, body: JSON) -> JSON:
        """Keep an object at the next version; return it as kept."""
        shelf = self._shelf(key.resource)
        before = self.get(key)
        self._version += 1
        after: JSON = share_parts(at_version(body, self._version), before or shelf.latest)
        shelf.namespaces[key.namespace][key.name] = shelf.latest = after
        done = ChangeType.MODIFIED if before is not None else ChangeType.ADDED
        self._tell(shelf, Change(done, key, before, after, self._version))
        return after

    def remove(self, key: Key) -> JSON:
        """Drop an object; return it as of its deletion. KeyError where there is none."""
        shelf = self._shelf(key.resource)
        before = shelf.namespaces[key.namespace].pop(key.name)
        self._version += 1
        self._tell(shelf, Change(ChangeType.DELETED, key, before, None, self._version))
        return at_version(before, self._version)

    def listen(self, resource: str, hear: Hear) -> Callable[[], None]:
        """Have `hear` called after each change of a resource; call the answer to end it."""
        listeners = self._shelf(resource).listeners
        listeners.append(hear)
        return lambda: listeners.remove(hear) if hear in listeners else None

    def changes_after(self, resource: str, version: int) -> list[Change]:
        """Return a resource's changes later than a version, oldest first; raise `Expired`."""
        return self._shelf(resource).history.after(version)

    def _shelf(self, resource: str) -> _Shelf:
        if resource not in self._shelves:
            self._shelves[resource] = _Shelf(History(self._kept))
        return self._shelves[resource]

    def _tell(self, shelf: _Shelf, change: Change) -> None:
        shelf.history.add(change)
        for hear in tuple(shelf.listeners):
            hear(change)


def _before_slash(namespace: str) -> str:
    """Order namespaces as the paths that they begin: `a-b/` stands before `a/`."""
    return f"{namespace}/"
