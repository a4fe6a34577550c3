"""The locks that a run holds: each write is based on the current Lease, or finds the lock lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gate.app.locks.recreation import Recreation, is_namespace_gone
from gate.app.runtime.console import Warn
from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.core.model.lock import Lock
from gate.core.model.lock_holder import Holder
from gate.core.protocol.events import LeaseLost
from gate.core.versions.history import History
from gate.kube.answers.failures import ApiError, NotFound, ResourceVersionConflict, UidMismatch
from gate.kube.locks.lease import Held, Leases
from gate.side_by_side import each
from gate.wire.decode import DecodeError
from gate.wire.history import read_history

JUST_NOW_SECONDS: Final = 5.0
"""A lock that was written no longer ago needs no renewal when it is the turn of all."""
_MOST_TRIES: Final = 3
_PAUSES_SECONDS: Final = (0.1, 0.2, 0.4, 0.8)
_CHANGED: Final = (ResourceVersionConflict, UidMismatch, NotFound)
"""Errors of a write to a Lease that has changed since it was read."""

Write = Callable[[Held], Held]


@dataclass(frozen=True, slots=True)
class LookAtLocks:
    """Asks who holds the locks now; `done` is set afterwards, with any `LeaseLost` in the inbox."""

    done: threading.Event


class Lost(Exception):
    """Somebody else holds a lock of ours, or held it in the meantime."""

    def __init__(self, holder: Holder, me: Holder) -> None:
        """Take the current holder, whose identity is "" if the lock was released since."""
        known = holder.identity
        if not known:
            last = holder.held_last_by if holder.held_last_by != me.identity else ""
            known = f"{last or 'another gate'}, which has released it"
        super().__init__(str(replace(holder, identity=known)))


class HeldLocks:
    """Locks of one holder. Any thread may read; only one thread at a time may write a given Lease.

    `lost` maps each lock that is no longer ours to who took it; none of them is written again.
    """

    def __init__(
        self,
        clock: Clock,
        leases: Leases,
        held: tuple[Held, ...],
        warn: Warn,
        recreation: Recreation,
    ) -> None:
        """Take the locks as they were taken, at least one."""
        self._clock = clock
        self._leases = leases
        self._warn = warn
        self._recreation = recreation
        self._held = {one.lock: one for one in held}
        self._written_at = dict.fromkeys(self._held, clock.now())
        self._may_be_freed: set[Lock] = set()
        self._histories: dict[Lock, tuple[str, History]] = {}
        self.lost: dict[Lock, str] = {}
        self.holder = held[0].holder

    @property
    def locks(self) -> tuple[Lock, ...]:
        """Return the locks that were taken, in the order of taking."""
        return tuple(self._held)

    @property
    def ours(self) -> tuple[Lock, ...]:
        """Return the locks that are not lost, in the order of taking."""
        return tuple(lock for lock in self._held if lock not in self.lost)

    def loss(self) -> LeaseLost:
        """Return which locks were lost, and who took the first of them."""
        holder = next(iter(self.lost.values()), "")
        return LeaseLost(self._clock.now(), holder, tuple(self.lost))

    def get(self, lock: Lock) -> Held:
        """Return a lock as last read or written; KeyError if it is not one of ours."""
        return self._held[lock]

    def unwritten(self, seconds: float) -> tuple[Lock, ...]:
        """Return our locks whose last write is at least `seconds` ago, the oldest write first."""
        latest = self._clock.now() - seconds
        late = (lock for lock in self.ours if self._written_at[lock] <= latest)
        return tuple(sorted(late, key=self._written_at.__getitem__))

    def history(self, lock: Lock, warn: Warn) -> History:
        """Return what a lock remembers, read once; an empty history if it is not one of ours."""
        held = self._held.get(lock)
        text, known = self._histories.get(lock, ("", History()))
        if held is None or held.history != text:
            known = history_of(held, warn)
            self._histories[lock] = (held.history if held is not None else "", known)
        return known

    def are_any_lost(self) -> bool:
        """Renew all locks side by side, and tell whether any is lost; other errors say nothing.

        Nobody may take a lock that was just renewed, so the answer holds for the next writes.
        """

        def look(lock: Lock) -> None:
            with contextlib.suppress(Lost, ApiError):
                self.renew(lock)

        each(self._clock, look, self.ours)
        return bool(self.lost)

    def renew(self, lock: Lock) -> None:
        """Renew a lock; errors as of `write`."""
        self.write(lock, lambda held: self._leases.renew(held, self._clock.wall()))

    def write(self, lock: Lock, write: Write) -> None:
        """Write to a lock; if it has changed since it was read, check who holds it now and retry.

        Raises Lost if it is somebody else's, and leaves of ApiError.
        """
        held: Held | None = self._held[lock]
        for _ in range(_MOST_TRIES):
            try:
                if held is not None:
                    sent_at = self._clock.now()
                    self._held[lock] = write(held)
                    self._written_at[lock] = sent_at
                    return
            except _CHANGED:
                pass
            held = self._seen_again(lock)
        raise ResourceVersionConflict(f"the lock of {lock} keeps changing")

    def insist(self, lock: Lock, write: Write, *, frees: bool = False) -> None:
        """Write as `write` does, retrying transient failures for a second and a half.

        A write that took effect although its response was lost shows up as a change, and is done
        again; if it `frees` the lock, that release may have been our own. A lock that went with its
        namespace needs no write.
        """
        try:
            self._insist(lock, write, frees=frees)
        except ApiError as error:
            if not is_namespace_gone(error):
                raise

    def _insist(self, lock: Lock, write: Write, *, frees: bool) -> None:
        for pause_seconds in _PAUSES_SECONDS:
            try:
                self.write(lock, write)
            except ApiError as error:
                self._may_be_freed |= {lock} if frees else set()
                if not error.transient or (error.retry_after_seconds or 0.0) > pause_seconds:
                    raise
            else:
                return
            self._clock.wait(pause_seconds)
        self.write(lock, write)

    def delete_blank(self, lock: Lock, *, whoever_made_it: bool) -> bool:
        """Delete a lock that remembers nothing, as last read or written; tell whether that is done.

        One that others made is left alone unless `whoever_made_it`.
        """
        held = self._held[lock]
        if not (held.remembers_nothing if whoever_made_it else held.is_blank):
            return False
        try:
            self._leases.delete(held)
        except ApiError as error:
            self._may_be_freed |= {lock} if error.transient else set()
            return False
        return True

    def _seen_again(self, lock: Lock) -> Held | None:
        """Read a lock, and take it again if it is free; None if somebody else is writing it now.

        One that somebody else took and released since is lost too: they continued from what we
        left, and what we know is no longer true.
        """
        held, now = self._leases.read(lock), self._clock.wall()
        mine = self._held[lock]
        if held is not None and held.holder.identity == self.holder.identity:
            # With another uid it is what we created again, and the answer to that was lost.
            return held if held.uid == mine.uid else self._complete(mine, held)
        if held is not None and (
            not held.is_free or (held.uid, held.transitions) != (mine.uid, mine.transitions)
        ):
            lost = Lost(held.holder, self.holder)
            self.lost[lock] = str(lost)
            raise lost
        if held is None:
            again = self._recreation.create(mine, self.holder, now)
            return self._complete(mine, again) if again is not None else None
        try:
            again = self._leases.claim(held, self.holder, now)
        except ResourceVersionConflict:
            return None
        if lock not in self._may_be_freed:
            self._warn(
                f"somebody released the lock of {lock} while this run held it;"
                " this run took it again"
            )
        return again

    def _complete(self, mine: Held, again: Held) -> Held:
        """Return a lock that was created again, with what belongs beside it."""
        history = self.history(mine.lock, self._warn)
        self._held[mine.lock] = again
        by_others = mine.lock not in self._may_be_freed
        self._recreation.complete(again, history, by_others=by_others)
        return again


def history_of(held: Held | None, warn: Warn) -> History:
    """Return what a lock remembers; if that cannot be read, warn and return an empty history."""
    try:
        return read_history(held.history) if held is not None else History()
    except DecodeError as error:
        warn(f"what is remembered of {held.lock if held else ''} cannot be read: {error}")
        return History()
