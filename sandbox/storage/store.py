"""The store: every object by its key, one version counter for all, as etcd has.

What it holds is never changed in place: whoever changes an object puts a copy. Readers get the
stored objects themselves. Listeners hear of each change right after it, in the order in which
they began to listen, and must not write.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile, zip_longest
from sys import intern
from typing import Any

from sandbox.json import JSON

_MOST_VERSION_DIGITS = 20
"""Those of 64 bits."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Where an object is.

    `resource` is the plural with its group (`kinds.Resource.key`): `pods`, `deployments.apps`;
    `namespace` is empty for what belongs to the whole cluster.
    """

    resource: str
    namespace: str
    name: str


class ChangeType(StrEnum):
    """What a change did, as the events of a watch say it."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Change:
    """One write: `before` is None for an added object, `after` for a deleted one."""

    type: ChangeType
    key: Key
    before: JSON | None
    after: JSON | None
    version: int


def number_of_version(text: str) -> int | None:
    """Return the number that a resourceVersion says, None where it is none (`ParseUint`)."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_VERSION_DIGITS
    return int(text) if is_number else None


def at_version(body: JSON, version: int) -> JSON:
    """Return the object with a resourceVersion; everything else is shared with `body`."""
    metadata = {**body.get("metadata", {}), "resourceVersion": str(version)}
    return {**body, "metadata": metadata}


KEPT_CHANGES = 2_000
"""More than a watch misses between two connections; few enough to hold in memory."""


class Expired(Exception):
    """A position is older than what the history holds."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {asked} ({oldest})")


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
        beside = like[: len(value)] if type(like) is list else []
        pairs = zip_longest(value, beside)
        return [share_parts(item, other) for item, other in pairs]
    if type(value) is str and len(value) <= INTERNED_LENGTH:
        return intern(value)
    return value


Hear = Callable[[Change], None]


class _Shelf:
    """The objects of one resource, by namespace and name, and its last changes, oldest first.

    `complete_from` is the version after which every change is here.
    """

    def __init__(self) -> None:
        self.namespaces: dict[str, dict[str, JSON]] = defaultdict(dict)
        self.changes: deque[Change] = deque()
        self.complete_from = 0
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
        # As the paths that they begin: `a-b/` stands before `a/`.
        names = [namespace] if namespace else sorted(spaces, key="{}/".format)
        found = (sorted(spaces.get(space, {}).items()) for space in names)
        return [body for space in found for _, body in space]

    def as_changes(self, resource: str) -> list[Change]:
        """Return the objects of a resource as if each had just been added at its version."""
        changes = []
        for body in self.items(resource):
            metadata = body["metadata"]
            key = Key(resource, metadata.get("namespace", ""), metadata["name"])
            version = int(metadata["resourceVersion"])
            changes.append(Change(ChangeType.ADDED, key, None, body, version))
        return changes

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
        shelf = self._shelf(resource)
        if version < shelf.complete_from:
            raise Expired(version, shelf.complete_from)
        later = takewhile(lambda change: change.version > version, reversed(shelf.changes))
        return [*later][::-1]

    def _shelf(self, resource: str) -> _Shelf:
        if resource not in self._shelves:
            self._shelves[resource] = _Shelf()
        return self._shelves[resource]

    def _tell(self, shelf: _Shelf, change: Change) -> None:
        shelf.changes.append(change)
        while len(shelf.changes) > self._kept:
            shelf.complete_from = shelf.changes.popleft().version
        for hear in tuple(shelf.listeners):
            hear(change)
