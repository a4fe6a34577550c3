"""The work queue of a controller: a key once, delays, retries at a limited rate.

Rules of client-go's `workqueue` with its default controller rate limiter.
"""

from __future__ import annotations

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
RETRIES_PER_SECOND = 10.0
RETRY_BURST = 100

ForKey = TypeVar("ForKey", bound=Hashable)


class SyncError(Exception):
    """A sync that could not do its work and is tried again; the API refused nothing."""


@dataclass(frozen=True, slots=True)
class Later:
    """The rest of a sync whose first part takes a while; the key is held until it is done."""

    seconds: float
    do: Callable[[], None]


class RetryLimiter:
    """How long retries wait: 5 ms doubling for a key, ten a second after a burst over all keys."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._failures: dict[Hashable, int] = {}
        self._tokens = float(RETRY_BURST)
        self._filled_at = timers.now()

    def seconds(self, key: Hashable) -> float:
        """Count one more retry of a key and return how long it has to wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # The exponent is bounded, for a key may fail for days.
        of_key = min(FIRST_RETRY_SECONDS * 2.0 ** min(failures, 30), LONGEST_RETRY_SECONDS)
        return max(of_key, self._of_all())

    def retries(self, key: Hashable) -> int:
        """Return how often a key was retried since it was last forgotten."""
        return self._failures.get(key, 0)

    def forget(self, key: Hashable) -> None:
        """Let a key begin again with the shortest wait."""
        self._failures.pop(key, None)

    def _of_all(self) -> float:
        now = self._timers.now()
        refilled = self._tokens + (now - self._filled_at) * RETRIES_PER_SECOND
        self._tokens = min(refilled, float(RETRY_BURST)) - 1.0
        self._filled_at = now
        return max(0.0, -self._tokens / RETRIES_PER_SECOND)


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
        self._limiter = RetryLimiter(timers)
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
        """Have a key synced after the wait that its retries have earned."""
        self.add_after(key, self._limiter.seconds(key))

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
            self._limiter.forget(key)
        else:
            self._hold(key, max(rest.seconds, self._work_seconds))
            self._timers.call_later(rest.seconds, partial(self._finish, key, rest.do))

    def _finish(self, key: ForKey, do: Callable[[], None]) -> None:
        try:
            do()
        except (ApiError, SyncError) as error:
            self._on_failure(key, error)
        else:
            self._limiter.forget(key)

    def _hold(self, key: ForKey, seconds: float) -> None:
        if seconds > 0:
            self._free_at[key] = self._timers.now() + seconds

    def _on_failure(self, key: ForKey, error: Exception) -> None:
        exhausted = (
            self._most_retries is not None and self._limiter.retries(key) >= self._most_retries
        )
        if exhausted or is_terminating_namespace(error):
            self._limiter.forget(key)
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
