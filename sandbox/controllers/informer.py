"""What a controller sees of a resource: a cache that follows the store a little later.

Each change reaches the cache, and those who watch it, `LATENCY_SECONDS` after it was stored; so a
controller acts on what it may have changed itself meanwhile, as the real ones do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from sandbox.controllers.ownership import controller_uid
from sandbox.json import JSON
from sandbox.storage.store import Change, ChangeType, Key, Store
from sandbox.times import Timers

LATENCY_SECONDS = 0.002

Objects = dict[Key, JSON]
Hear = Callable[[Change], None]


class Informer:
    """The cached objects of one resource, by key, by controller, and those without one."""

    def __init__(self, store: Store, timers: Timers, resource: str) -> None:
        self._store = store
        self._timers = timers
        self.resource = resource
        self._objects: Objects = {}
        self._controlled: dict[str, Objects] = {}
        self._free: dict[str, Objects] = {}
        self._hearers: list[Hear] = []

    def start(self) -> None:
        """Take what is stored already, and follow."""
        for body in self._store.items(self.resource):
            metadata = body["metadata"]
            key = Key(self.resource, metadata.get("namespace", ""), metadata["name"])
            version = int(metadata["resourceVersion"])
            self._hear(Change(ChangeType.ADDED, key, None, body, version))
        self._store.listen(self.resource, self._hear)

    def watch(self, hear: Hear) -> None:
        """Have `hear` called after each change of the cache; `before` is what stood in it."""
        self._hearers.append(hear)

    def get(self, key: Key) -> JSON | None:
        """Return a cached object."""
        return self._objects.get(key)

    def all(self) -> Iterable[JSON]:
        """Return every cached object."""
        return self._objects.values()

    def controlled_by(self, uid: str) -> list[JSON]:
        """Return the objects whose controller has this uid."""
        return [*self._controlled.get(uid, {}).values()]

    def without_controller(self, namespace: str) -> list[JSON]:
        """Return the objects of a namespace that no controller has."""
        return [*self._free.get(namespace, {}).values()]

    def _hear(self, change: Change) -> None:
        self._timers.call_later(LATENCY_SECONDS, partial(self._apply, change))

    def _apply(self, change: Change) -> None:
        before = self._objects.pop(change.key, None)
        if before is not None:
            self._remove(change.key, before)
        if change.type is not ChangeType.DELETED and change.after is not None:
            self._objects[change.key] = change.after
            self._place(change.key, change.after)[change.key] = change.after
        seen = replace(change, before=before)
        for hear in self._hearers:
            hear(seen)

    def _place(self, key: Key, body: JSON) -> Objects:
        uid = controller_uid(body)
        if uid is None:
            return self._free.setdefault(key.namespace, {})
        return self._controlled.setdefault(uid, {})

    def _remove(self, key: Key, body: JSON) -> None:
        uid = controller_uid(body)
        index, name = (self._free, key.namespace) if uid is None else (self._controlled, uid)
        index[name].pop(key, None)
        if not index[name]:
            del index[name]
