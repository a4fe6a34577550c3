"""Who holds a lock, and the two ways to know that a holder is dead: its Lease, or proof.

That two processes belong to the same job, build or stage proves nothing: stages run in parallel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.lock import Lock


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told apart from every other, earlier or later, on any machine.

    `boot_id` and `namespaces` (those of PIDs and of time) say where `pid` is valid, `start_ticks`
    tells it from earlier processes with that pid. `host` is the machine's name: clones of one
    snapshot may share a boot id.
    """

    host: str
    boot_id: str
    namespaces: str
    pid: int
    start_ticks: int

    def shares_pids_with(self, other: Process) -> bool:
        """Tell whether a pid means the same to both."""
        mine = (self.host, self.boot_id, self.namespaces)
        return mine == (other.host, other.boot_id, other.namespaces)


HasEnded = Callable[[Process], bool]
"""Whether there is no such process any more; asked only about one that shares pids with ours."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as it says itself; `identity` is unique to each attempt.

    `url` is the page of its run, "" if there is none; `locks` are all that the attempt took;
    `records_in` are those of them that may hold a record: its own, and those that it found open; ()
    if the holder does not say. `process` is None if the system does not tell (no /proc).
    `held_last_by` is the identity of who took the lock last, even after it was given back;
    `was_released` is whether somebody else gave it back for that holder, whose process may still
    live.
    """

    identity: str
    url: str = ""
    locks: tuple[Lock, ...] = ()
    process: Process | None = None
    records_in: tuple[Lock, ...] = ()
    held_last_by: str = ""
    was_released: bool = False

    def __str__(self) -> str:
        """Return it for people."""
        return f"{self.identity} ({self.url})" if self.url else self.identity


NOBODY: Final = Holder("")


def is_proven_dead(holder: Holder, observer: Holder, has_ended: HasEnded) -> bool:
    """Tell whether an observer on the same machine can see that the holder's process is gone."""
    theirs, mine = holder.process, observer.process
    if theirs is None or mine is None or not mine.shares_pids_with(theirs):
        return False
    return has_ended(theirs)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A held Lease as an observer saw it first with this `renewed`, on the observer's clock.

    The Lease runs out `seconds` later unless it is renewed.
    """

    identity: str
    renewed: str
    seconds: float
    seen_at: float

    @property
    def runs_out_at(self) -> float:
        """When the Lease expires, on the observer's clock."""
        return self.seen_at + self.seconds

    def again(self, identity: str, renewed: str, seconds: float, now: float) -> Sighting:
        """Return the sighting after one more look: a new one if holder or renewal changed."""
        if (identity, renewed) == (self.identity, self.renewed):
            return self
        return Sighting(identity, renewed, seconds, now)


def free_at(
    holder: Holder, sighting: Sighting, observer: Holder, has_ended: HasEnded, now: float
) -> float:
    """Return when an observer may take a lock, by all it knows at `now`."""
    if holder.identity in ("", observer.identity):
        return now
    if is_proven_dead(holder, observer, has_ended):
        return now
    return sighting.runs_out_at
