"""The work queue of a controller: a key once, delays, retries at a limited rate.

Rules of client-go's `workqueue`; of its rate limiters the one of each key, since the one of all
keys lets a hundred retries pass at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from sandbox.controllers.ownership import controller_uid
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.storage.store import Change, Key, Store
from sandbox.times import Timer, Timers

SYNC_SECONDS = 0.001
"""How long a key lies in the queue before a worker takes it: what arrives meanwhile is one sync."""

FIRST_RETRY_SECONDS = 0.005
LONGEST_RETRY_SECONDS = 1000.0
MOST_DOUBLINGS = 30
"""The exponent of a wait is bounded, for a key may fail for days."""

ForKey = TypeVar("ForKey", bound=Hashable)


class SyncError(Exception):
    """A sync that could not do its work and is tried again; the API refused nothing."""


@dataclass(frozen=True, slots=True)
class Later:
    """The rest of a sync whose first part takes a while; the key is held until it is done."""

    seconds: float
    do: Callable[[], None]


class WorkQueue(Generic[ForKey]):
    """Calls `sync` for each key that was added, once however often it was added meanwhile.

    A sync that raises `ApiError` or `SyncError` is tried again, at most `most_retries` times in a
    row where that is given; after that the key waits for the next change. Two syncs of a key are
    at least `work_seconds` apart.
    """

    def __init__(
        self,
        timers: Timers,
        sync: Callable[[ForKey], Later | None],
        *,
        most_retries: int | None = None,
        work_seconds: float = 0.0,
    ) -> None:
        self._timers = timers
        self._sync = sync
        self._most_retries = most_retries
        self._work_seconds = work_seconds
        self._free_at: dict[ForKey, float] = {}
        self._retries: Counter[ForKey] = Counter()
        self._ready: set[ForKey] = set()
        self._waiting: dict[ForKey, Timer] = {}

    def add(self, key: ForKey) -> None:
        """Have a key synced soon."""
        if key in self._ready:
            return
        self._ready.add(key)
        at = max(self._timers.now() + SYNC_SECONDS, self._free_at.pop(key, 0.0))
        self._timers.call_at(at, partial(self._run, key))

    def add_after(self, key: ForKey, seconds: float) -> None:
        """Have a key synced after a while; of several waits of a key the shortest counts."""
        if seconds <= 0:
            self.add(key)
            return
        at = self._timers.now() + seconds
        waiting = self._waiting.get(key)
        if waiting is not None:
            if waiting.at <= at:
                return
            waiting.cancel()
        self._waiting[key] = self._timers.call_at(at, partial(self._end_wait, key))

    def add_rate_limited(self, key: ForKey) -> None:
        """Have a key synced after the wait that its retries have earned: 5 ms, doubled by each."""
        doublings = min(self._retries[key], MOST_DOUBLINGS)
        self._retries[key] += 1
        self.add_after(key, min(FIRST_RETRY_SECONDS * 2.0**doublings, LONGEST_RETRY_SECONDS))

    def _end_wait(self, key: ForKey) -> None:
        del self._waiting[key]
        self.add(key)

    def _run(self, key: ForKey) -> None:
        self._ready.discard(key)
        self._hold(key, self._work_seconds)
        try:
            rest = self._sync(key)
        except (ApiError, SyncError) as error:
            self._on_failure(key, error)
            return
        if rest is None:
            self._retries.pop(key, None)
        else:
            self._hold(key, max(rest.seconds, self._work_seconds))
            self._timers.call_later(rest.seconds, partial(self._finish, key, rest.do))

    def _finish(self, key: ForKey, do: Callable[[], None]) -> None:
        try:
            do()
        except (ApiError, SyncError) as error:
            self._on_failure(key, error)
        else:
            self._retries.pop(key, None)

    def _hold(self, key: ForKey, seconds: float) -> None:
        if seconds > 0:
            self._free_at[key] = self._timers.now() + seconds

    def _on_failure(self, key: ForKey, error: Exception) -> None:
        exhausted = self._most_retries is not None and self._retries[key] >= self._most_retries
        if exhausted or is_terminating_namespace(error):
            self._retries.pop(key, None)
        else:
            self.add_rate_limited(key)


def is_terminating_namespace(error: Exception) -> bool:
    """Say whether a write was refused because its namespace is going: no retry can help."""
    causes = error.details.get("causes", ()) if isinstance(error, ApiError) else ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)


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
        for change in self._store.as_changes(self.resource):
            self._hear(change)
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
        if change.after is not None:
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
