"""The locks that a run holds: each is written as it is now, and stays ours or is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gate.clock import Clock
from gate.core.model.lock import Lock
from gate.core.model.lock_holder import Holder
from gate.core.protocol.events import LeaseLost
from gate.core.versions.history import History
from gate.kube.failures import ApiError, NotFound, ResourceVersionConflict, UidMismatch
from gate.kube.lease import Held, Leases
from gate.wire.decode import DecodeError
from gate.wire.history import read_history

_MOST_TRIES: Final = 3
_PAUSES_SECONDS: Final = (0.1, 0.2, 0.4, 0.8)
_CHANGED: Final = (ResourceVersionConflict, UidMismatch, NotFound)
"""What a write meets where a Lease is not as it was read."""

Warn = Callable[[str], None]
Write = Callable[[Held], Held]


@dataclass(frozen=True, slots=True)
class LookAtLocks:
    """Asks whose the locks are now; `done` is set afterwards, `LeaseLost` is in the inbox then."""

    done: threading.Event


class Lost(Exception):
    """Somebody else holds a lock of ours, or held it meanwhile."""

    def __init__(self, holder: Holder, me: Holder) -> None:
        """Take the holder of now, who is nobody where it was given back since."""
        known = holder.identity
        if not known:
            last = holder.held_last_by if holder.held_last_by != me.identity else ""
            known = f"{last or 'another gate'}, which has given it back"
        super().__init__(str(replace(holder, identity=known)))


class HeldLocks:
    """Locks of one holder; anybody may read. Of one Lease only one thread at a time may write.

    `lost` says of each lock that is not ours any more who took it; none of them is written again.
    """

    def __init__(self, clock: Clock, leases: Leases, held: tuple[Held, ...], warn: Warn) -> None:
        """Take what was taken, at least one."""
        self._clock = clock
        self._leases = leases
        self._warn = warn
        self._held = {one.lock: one for one in held}
        self._written_at = dict.fromkeys(self._held, clock.now())
        self._may_be_freed: set[Lock] = set()
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
        """Return a lock as it was read or written last; KeyError for none of ours."""
        return self._held[lock]

    def unwritten(self, seconds: float) -> tuple[Lock, ...]:
        """Return the locks of ours whose last write is that long ago, the oldest write first."""
        latest = self._clock.now() - seconds
        late = (lock for lock in self.ours if self._written_at[lock] <= latest)
        return tuple(sorted(late, key=self._written_at.__getitem__))

    def history(self, lock: Lock, warn: Warn) -> History:
        """Return what a lock remembers, nothing where it is none of ours."""
        return history_of(self._held.get(lock), warn)

    def write(self, lock: Lock, write: Write) -> None:
        """Write to a lock; where it has changed since, look whose it is now.

        Raises Lost where it is somebody else's, and leaves of ApiError.
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
        raise ResourceVersionConflict(f"the lock of {lock} changes all the time")

    def insist(self, lock: Lock, write: Write, *, frees: bool = False) -> None:
        """Write as `write` does, and again after a failure that may pass: a second and a half.

        What was done though its answer was lost is met as a change, and done once more; one that
        `frees` the lock may then have been ours. Of a lock that went with its namespace there is
        nothing to write.
        """
        try:
            self._insist(lock, write, frees=frees)
        except ApiError as error:
            if not _says_that_namespace_goes(error):
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

    def delete(self, lock: Lock) -> None:
        """Delete a lock as it was read or written last; raises leaves of ApiError."""
        self._may_be_freed.add(lock)
        self._leases.delete(self._held[lock])

    def _seen_again(self, lock: Lock) -> Held | None:
        """Read a lock, and take it again where nobody has it; None where others write just now.

        One that somebody else has taken and given back since is lost all the same: they have gone
        on from what we left, and what we know of it is no longer true.
        """
        held, now = self._leases.read(lock), self._clock.wall()
        if held is not None and held.holder.identity == self.holder.identity:
            return held
        mine = self._held[lock]
        if held is not None and (
            not held.is_free or (held.uid, held.transitions) != (mine.uid, mine.transitions)
        ):
            lost = Lost(held.holder, self.holder)
            self.lost[lock] = str(lost)
            raise lost
        try:
            if held is None:
                again = self._leases.create(lock, self.holder, now)
            else:
                again = self._leases.claim(held, self.holder, now)
        except ResourceVersionConflict:
            return None
        if again is not None and lock not in self._may_be_freed:
            did = "deleted" if held is None else "released"
            self._warn(
                f"somebody {did} the lock of {lock} while this run held it; it took it again"
            )
        return again


def _says_that_namespace_goes(error: ApiError) -> bool:
    """Tell whether a Lease cannot be made again because its namespace is gone, or about to be.

    For the latter there is no status reason of its own: the words are those of the admission
    plugin NamespaceLifecycle.
    """
    is_gone = isinstance(error, NotFound) and not error.refused
    return is_gone or "because it is being terminated" in error.message


def history_of(held: Held | None, warn: Warn) -> History:
    """Return what a lock remembers; what cannot be read is warned of."""
    try:
        return read_history(held.history) if held is not None else History()
    except DecodeError as error:
        warn(f"what is remembered of {held.lock if held else ''} cannot be read: {error}")
        return History()
