"""A watch: what happens to a selection from a version on, taken when the reader is ready.

A watch holds no events, only its place in the history: a reader that is too slow for the history
is told that its place has expired, as the server tells it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.failure import ApiError, make_expired_error
from sandbox.json import JSON
from sandbox.storage.selection import Selection
from sandbox.storage.store import Change, Expired, Store
from sandbox.times import Timer, Timers

BOOKMARK_SECONDS = 60.0
"""How often a watch that asked for bookmarks gets one (cacher `defaultBookmarkFrequency`)."""

LAST_BOOKMARK_SECONDS = 2.0
"""How long before its timeout a watch gets its last bookmark."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class WatchStart:
    """Where a watch begins: after `version`, or (None) with the objects as they are.

    `initial` tells the objects first although there is a version (`sendInitialEvents`), ended by a
    marked bookmark where bookmarks are asked for; `skip_initial` begins at the present silently.
    """

    version: int | None = None
    initial: bool = False
    skip_initial: bool = False
    bookmarks: bool = False
    timeout_seconds: float | None = None


def no_reader() -> None:
    """Be told of events that nobody waits for."""


class Watch:
    """The events of a selection: `take` them, be called back when there may be more."""

    def __init__(
        self, store: Store, timers: Timers, selected: Selection, start: WatchStart, blank: JSON
    ) -> None:
        """`blank` is an empty object of the kind, which bookmarks are made of."""
        self._store = store
        self._timers = timers
        self._selected = selected
        self._start = start
        self._blank = blank
        self._wake: Callable[[], None] = no_reader
        self._over = False
        self._pending: list[JSON] = []
        self._position = self._begin(start)
        self._stop_hearing = store.listen(selected.resource, self._hear)
        self._ends_at = (
            None if start.timeout_seconds is None else timers.now() + start.timeout_seconds
        )
        self._timers_set = self._set_timers()

    @property
    def ended(self) -> bool:
        """Whether nothing more will come after what is still to be taken."""
        return self._over

    def on_data(self, wake: Callable[[], None]) -> None:
        """Have `wake` called when there is something to take, and at the end."""
        self._wake = wake

    def take(self) -> list[JSON]:
        """Return the events since the last time, oldest first."""
        self._catch_up()
        taken, self._pending = self._pending, []
        return taken

    def close(self) -> None:
        """End the watch; what has not been taken can still be."""
        if self._over:
            return
        self._catch_up()
        self._over = True
        self._stop_hearing()
        for timer in self._timers_set:
            timer.cancel()
        self._wake()

    def _begin(self, start: WatchStart) -> int:
        if start.skip_initial:
            return self._store.version
        if start.version is not None and not start.initial:
            return start.version
        self._pending = [
            _event("ADDED", body)
            for body in self._store.items(self._selected.resource, self._selected.namespace)
            if self._selected.matches(body)
        ]
        if start.initial and start.bookmarks:
            self._pending.append(self._bookmark(marked=True))
        return self._store.version

    def _set_timers(self) -> list[Timer]:
        found = []
        if self._ends_at is not None:
            found.append(self._timers.call_at(self._ends_at, self.close))
        if self._start.bookmarks:
            found.append(self._timers.call_at(self._next_bookmark_at(), self._tell_position))
        return found

    def _next_bookmark_at(self) -> float:
        regular = self._timers.now() + BOOKMARK_SECONDS
        if self._ends_at is None:
            return regular
        last = self._ends_at - LAST_BOOKMARK_SECONDS
        return min(regular, last) if last > self._timers.now() else regular

    def _tell_position(self) -> None:
        """Add a bookmark, unless the reader has not even taken what was there before."""
        if not self._pending:
            self._catch_up()
            if self._over:
                return
            self._position = max(self._position, self._store.version)
            self._pending.append(self._bookmark(marked=False))
        self._timers_set[-1] = self._timers.call_at(self._next_bookmark_at(), self._tell_position)
        self._wake()

    def _bookmark(self, *, marked: bool) -> JSON:
        metadata: JSON = {"resourceVersion": str(self._store.version)}
        if marked:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        return _event("BOOKMARK", {**self._blank, "metadata": metadata})

    def _hear(self, change: Change) -> None:
        if change.version > self._position and self._selected.select_change(change) is not None:
            self._wake()

    def _catch_up(self) -> None:
        if self._over:
            return
        try:
            changes = self._store.changes_after(self._selected.resource, self._position)
        except Expired as error:
            self._fail(make_expired_error(str(error)))
            return
        for change in changes:
            self._position = change.version
            seen = self._selected.select_change(change)
            if seen is not None:
                self._pending.append(_event(*seen))

    def _fail(self, error: ApiError) -> None:
        self._pending.append(_event("ERROR", error.body()))
        self._position = self._store.version
        self.close()


def _event(kind: str, body: JSON) -> JSON:
    return {"type": str(kind), "object": body}
