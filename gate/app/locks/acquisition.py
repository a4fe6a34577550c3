"""Takes the locks of an attempt: all or none, waiting for whoever holds them.

A lock is never taken from a holder that may be alive. It is taken once its Lease has stayed
unchanged for its own duration, on our clock, or if its holder was a process of this machine that
has ended.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from gate.app.runtime.console import Console
from gate.clock import Clock
from gate.cluster_name import ClusterName
from gate.core.model import lock_holder as holders
from gate.core.model.lock import Lock
from gate.core.model.lock_holder import Holder, Sighting
from gate.core.model.outcome import Reason
from gate.duration import format_seconds
from gate.engine import HEARTBEAT_SECONDS
from gate.errors import RefusedError
from gate.kube.answers.failures import ApiError, NotFound, ResourceVersionConflict
from gate.kube.locks.lease import DURATION_SECONDS, Held, Leases
from gate.processes import Processes
from gate.report.words.moment import moment

POLL_SECONDS: Final = 5.0
LEAVE_SECONDS: Final = 2.0
"""How long a run that ends early waits for the release of its locks."""
_SHORTEST_WAIT_SECONDS: Final = 0.2


class Locked(RefusedError):
    """Somebody else works on it. Exit 3."""

    def __init__(
        self, lock: Lock, holder: str, waited_seconds: float, cluster: ClusterName
    ) -> None:
        words = ("rollout-gate", "locks", "--release", str(lock))
        release = cluster.command(*words, namespace=lock.namespace)
        super().__init__(
            f"{lock} is locked by {holder}; waited for {format_seconds(waited_seconds)}",
            reason=Reason.LOCKED,
            hint="wait for that run, or give it longer: --lock-wait 30m; if it died, its lock is"
            f" free once watched for {format_seconds(DURATION_SECONDS)}; if it hangs: {release}",
        )


ReadLock = Callable[[Lock], Held | None]


def record_places(read: ReadLock, held: Held) -> tuple[Held, ...]:
    """Return the Leases with open records of the attempt that took this lock last.

    Besides its own record there may be others that it found open and did not get to finish. Each
    stays in the Lease where it was written, whichever locks its finder took. A later attempt that
    did not take this lock may have used one of those Leases since: its record does not concern this
    lock.
    """
    holder = held.holder
    places = (read(lock) for lock in holder.records_in or holder.locks if lock != held.lock)
    others = tuple(
        place
        for place in places
        if place is not None and place.record and held.lock in place.holder.locks
    )
    return (held, *others) if held.record else others


@dataclass(slots=True)
class LockTaking:
    """Takes a set of locks; remembers how long their holders have been silent.

    `holders_before` are the last holders of the locks that were taken, according to their Leases.
    """

    clock: Clock
    leases: Leases
    me: Holder
    processes: Processes
    from_the_dead: set[Lock] = field(default_factory=set)
    holders_before: dict[Lock, Holder] = field(default_factory=dict)
    _sightings: dict[Lock, Sighting] = field(default_factory=dict)
    _attempted: dict[Lock, None] = field(default_factory=dict)

    def look(self, locks: Iterable[Lock]) -> dict[Lock, Held | None]:
        """Read locks, and all other locks of attempts that left a record open for one of them.

        Another lock counts only if its own Lease names the Lease with the record too; a claim of
        the latter alone is not enough, since taking the lock would make that claim true.
        """
        read = functools.cache(self.leases.read)
        found: dict[Lock, Held | None] = {}
        named_by: dict[Lock, Lock] = {}
        wanted = sorted(locks)
        while wanted:
            lock = wanted.pop(0)
            held, named = read(lock), named_by.get(lock)
            if named is not None and (held is None or named not in held.holder.locks):
                continue
            found[lock] = held
            for place in record_places(read, held) if held is not None else ():
                for one in dict.fromkeys((place.lock, *place.holder.locks)):
                    if one not in (*found, *wanted, *named_by):
                        named_by[one] = place.lock
                        wanted.append(one)
        return dict(sorted(found.items()))

    def free_at(self, held: Held | None) -> float:
        """Return when a lock may be taken, as far as is known now."""
        now = self.clock.now()
        if held is None:
            return now
        said = (held.holder.identity, held.renewed, held.seconds)
        seen = self._sightings.get(held.lock, Sighting(*said, now)).again(*said, now)
        self._sightings[held.lock] = seen
        return holders.free_at(held.holder, seen, self.me, self.processes.has_ended, now)

    def take(self, found: Mapping[Lock, Held | None]) -> tuple[Held, ...] | None:
        """Take locks as they were read; None, and none taken, if somebody was faster.

        If anything else ends it early, a signal included, `leave` releases what was taken.
        """
        recorded = [lock for lock, held in found.items() if held is not None and held.record]
        records_in = tuple(dict.fromkeys([*list(found)[:1], *recorded]))
        me = replace(self.me, locks=tuple(found), records_in=records_in)
        now = self.clock.wall()
        taken: list[Held] = []
        try:
            for lock, held in found.items():
                self._attempted[lock] = None
                made = self._take_lock(lock, held, me, now)
                if made is None:
                    break
                taken.append(made)
        except ResourceVersionConflict:
            pass  # somebody was faster: what was already taken is released below
        if len(taken) == len(found):
            self.from_the_dead = {k for k, held in found.items() if held and not held.is_free}
            self.holders_before = {k: held.holder for k, held in found.items() if held}
            return tuple(taken)
        self._give_back()
        return None

    def _take_lock(self, lock: Lock, held: Held | None, me: Holder, now: datetime) -> Held | None:
        """Take one lock, None if somebody was faster; if the response is lost, read it back."""
        try:
            if held is not None:
                return self._claim_lease(held, me, now)
            return self.leases.create(lock, me, now)
        except ApiError as error:
            if error.untouched or not error.transient:
                raise
            seen = self.leases.read(lock)
            return seen if seen is not None and seen.holder.identity == me.identity else None

    def _claim_lease(self, held: Held, me: Holder, now: datetime) -> Held | None:
        """Take over a Lease, None if its holder has just deleted it."""
        try:
            return self.leases.claim(held, me, now)
        except NotFound:
            return None

    # -- releasing ---------------------------------------------------------------------------------

    def hand_over(self) -> None:
        """Leave the locks to somebody else, who will release them."""
        self._attempted.clear()

    def leave(self) -> None:
        """Release what was taken and not handed over; waits no longer than `LEAVE_SECONDS`."""
        if self._attempted:
            ended = self.clock.start(self._give_back, "lease")
            self.clock.wait(LEAVE_SECONDS, ended)

    def _give_back(self) -> None:
        """Release each lock that is ours, including one whose taking got no response."""
        for lock in tuple(self._attempted):
            try:
                held = self.leases.read(lock)
                if held is not None and held.holder.identity == self.me.identity:
                    self._release_lock(held)
            except ApiError:
                pass  # it expires
            self._attempted.pop(lock, None)

    def _release_lock(self, held: Held) -> None:
        """Delete a lock that we created and that remembers nothing, release any other."""
        if held.is_blank:
            try:
                self.leases.delete(held)
            except ApiError:
                pass  # if it cannot be deleted, it is released
            else:
                return
        self.leases.release(held, {}, self.clock.wall())


# -- waiting ---------------------------------------------------------------------------------------


def take_within(
    taking: LockTaking, seconds: float, console: Console, locks: Iterable[Lock]
) -> tuple[Held, ...]:
    """Take locks as soon as all are free; raises Locked if that takes longer than `seconds`."""
    clock, wanted = taking.clock, tuple(locks)
    started_at = clock.now()
    last_said, said_at = "", started_at
    while True:
        found = taking.look(wanted)
        free_at = {lock: taking.free_at(held) for lock, held in found.items()}
        busy = [lock for lock in found if free_at[lock] > clock.now()]
        if not busy:
            taken = taking.take(found)
            if taken is not None:
                return taken
        lock = busy[0] if busy else next(iter(found))
        held, now = found[lock], clock.now()
        words = _held_by(held if busy else None, clock, free_at[lock])
        if now - started_at >= seconds:
            raise Locked(lock, words, now - started_at, taking.leases.cluster)
        identity = held.holder.identity if held is not None and busy else ""
        if identity != last_said or now >= said_at + HEARTBEAT_SECONDS:
            last_said, said_at = identity, now
            until = _moment(clock, started_at + seconds)
            console.note("lock", f"{lock} is locked by {words}; waiting until {until} at most")
        until_at = min(free_at[lock], now + POLL_SECONDS, started_at + seconds)
        clock.wait(max(until_at - now, _SHORTEST_WAIT_SECONDS))


def _held_by(held: Held | None, clock: Clock, free_at: float) -> str:
    """Say who holds a lock, and until when it has to stay unrenewed to be taken.

    None means that it was taken just now. The last renewal is by the holder's clock; how long it is
    ago is never counted, since clocks differ: every observer watches for a whole Lease again.
    """
    if held is None:
        return "another run, which was faster"
    renewed = f", last renewed at {moment(held.renewed)}" if held.renewed else ""
    return f"{held.holder}{renewed}; unless renewed again, it is free at {_moment(clock, free_at)}"


def _moment(clock: Clock, at: float) -> str:
    """Format a moment on the clock as RFC 3339, in UTC."""
    wall = clock.wall() + timedelta(seconds=at - clock.now())
    return f"{wall:%Y-%m-%dT%H:%M:%SZ}"


def without_record(lock: Lock, error: ApiError) -> RefusedError:
    """Return the refusal of an attempt that nobody could finish if it were killed."""
    return RefusedError(
        f"{lock}: the record of the planned writes cannot be saved: {error.message}",
        reason=error.reason,
        hint="nobody could finish this attempt if the gate dies; to continue anyway: --no-lock",
    )
