"""Taking locks: all or none, also where an answer is lost or a signal comes in between."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from gate.app.locks.acquisition import Locked, LockTaking, record_places, take_within
from gate.app.runtime.console import Console
from gate.cluster_name import ClusterName
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import NOBODY, Holder, Process
from gate.kube.answers.failures import Forbidden, ResourceVersionConflict, TimedOut
from gate.kube.locks.lease import Held, Leases
from gate.signals import Signalled
from gate.virtual_time import VirtualClock

LOCK = lock_of(deployment_ref("shop", "web"))
API, DB = lock_of(deployment_ref("shop", "api")), lock_of(deployment_ref("shop", "db"))
ALL = (API, DB, LOCK)
MACHINE = Process("runner", "boot", "pid time", 7, 1)
ME = Holder("ci 1", process=replace(MACHINE, pid=8))
OTHER = Holder("ci 2", "https://ci/2", process=MACHINE)
STARTED = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Stored:
    """A server's Leases, which can lose an answer, or be interrupted, at the nth write."""

    def __init__(self, *held: Held) -> None:
        self.held = {one.lock: one for one in held}
        self.loses: str = ""
        self.signal_at = 0
        self.signal_after = True
        self.writes = 0
        self.cluster = ClusterName("")

    def read(self, lock: Lock) -> Held | None:
        """Return what there is."""
        return self.held.get(lock)

    def create(self, lock: Lock, holder: Holder, _: datetime) -> Held | None:
        """Make the Lease."""
        if lock in self.held:
            return None
        return self._done(Held(lock, f"uid-{lock.name}", "1", holder))

    def claim(self, held: Held, holder: Holder, _: datetime) -> Held:
        """Take the Lease over."""
        if self.held[held.lock] != held:
            raise ResourceVersionConflict("it was changed")
        return self._done(replace(held, holder=holder, resource_version="2", transitions=1))

    def release(self, held: Held, *_: Any) -> None:
        """Give it back."""
        self.held[held.lock] = replace(held, holder=NOBODY)

    def delete(self, held: Held) -> None:
        """Delete it."""
        del self.held[held.lock]

    def _done(self, held: Held) -> Held:
        self.writes += 1
        signalled = self.writes == self.signal_at
        if signalled and not self.signal_after:
            raise Signalled(15)
        lost, self.loses = self.loses, ""
        if lost != "request":
            self.held[held.lock] = held
        if signalled:
            raise Signalled(15)
        if lost:
            raise TimedOut("the answer was lost")
        return held


class Machine:
    """A machine on which the processes with some pids have ended."""

    def __init__(self, *ended: int) -> None:
        self.ended = ended

    def this(self) -> Process | None:
        """Return nothing: a test says who it is."""
        return None

    def has_ended(self, process: Process) -> bool:
        """Tell whether a process has ended."""
        return process.pid in self.ended


class Notes:
    """A console that keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, _: str, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)


def held_by(holder: Holder, lock: Lock = LOCK, **more: Any) -> Held:
    """Return a Lease that somebody holds."""
    return Held(lock, "uid", "1", holder, renewed="then", **more)


def taking(stored: Stored, machine: Machine | None = None) -> LockTaking:
    """Return who wants locks."""
    clock = VirtualClock(started=STARTED)
    return LockTaking(clock, cast("Leases", stored), ME, machine or Machine())


@pytest.mark.contract("B520")
@pytest.mark.parametrize("before", [(), (held_by(NOBODY),)])
def test_a_lock_whose_answer_was_lost_is_read_back(before: tuple[Held, ...]) -> None:
    """Made or taken over: it is ours, and we hold it."""
    stored = Stored(*before)
    stored.loses = "answer"
    asking = taking(stored)
    taken = asking.take(asking.look([LOCK]))
    assert taken is not None
    assert taken[0].holder.identity == ME.identity


@pytest.mark.contract("B520")
def test_a_request_that_was_lost_is_sent_again() -> None:
    """It was not done: nobody holds it, and the next try takes it."""
    stored = Stored()
    stored.loses = "request"
    asking = taking(stored)
    assert asking.take(asking.look([LOCK])) is None
    assert asking.take(asking.look([LOCK])) is not None


@pytest.mark.contract("B520")
def test_what_we_hold_already_is_free_to_us() -> None:
    """An earlier try of this attempt, of which nothing was heard any more; not of another one."""
    asking = taking(Stored())
    assert asking.free_at(held_by(ME)) == asking.clock.now()
    assert asking.free_at(held_by(OTHER)) > asking.clock.now()


def test_what_was_surely_not_done_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is one."""
    stored = Stored()

    def refused(*_: Any) -> Held:
        raise Forbidden("no")

    asking = taking(stored)
    monkeypatch.setattr(stored, "create", refused)
    with pytest.raises(Forbidden):
        asking.take({LOCK: None})


@pytest.mark.contract("B545")
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("after", [True, False], ids=["done", "not-done"])
@pytest.mark.parametrize("remembers", [True, False], ids=["old", "new"])
def test_a_signal_while_locks_are_taken_leaves_none(at: int, after: bool, remembers: bool) -> None:
    """Not even the one whose answer it kept us from hearing; what was there before stays."""
    before = [held_by(NOBODY, lock, history="v1") for lock in ALL] if remembers else []
    stored = Stored(*before)
    stored.signal_at, stored.signal_after = at, after
    asking = taking(stored)
    with pytest.raises(Signalled):
        asking.take(asking.look(ALL))
    asking.leave()
    assert [held for held in stored.held.values() if not held.is_free] == []
    assert len(stored.held) == len(before)


@pytest.mark.contract("B520")
def test_who_meets_somebody_faster_gives_the_rest_back() -> None:
    """All or none."""
    stored = Stored()
    asking = taking(stored)
    found = asking.look(ALL)
    stored.held[LOCK] = held_by(OTHER)
    assert asking.take(found) is None
    assert stored.held == {LOCK: held_by(OTHER)}


def test_locks_that_were_handed_over_are_somebody_elses_to_give_back() -> None:
    """Their keeper's."""
    stored = Stored()
    asking = taking(stored)
    assert asking.take(asking.look(ALL)) is not None
    asking.hand_over()
    asking.leave()
    assert all(not held.is_free for held in stored.held.values())


@pytest.mark.contract("B548")
@pytest.mark.parametrize("asked", [[API], [LOCK], [DB, LOCK]])
def test_all_locks_of_an_attempt_with_a_record_are_looked_at(asked: list[Lock]) -> None:
    """Whichever of its Deployments is asked for, the first, which keeps the record, too."""
    dead = replace(OTHER, locks=ALL)
    stored = Stored(held_by(dead, API, record="open"), held_by(dead, DB), held_by(dead))
    assert tuple(taking(stored).look(asked)) == ALL


@pytest.mark.contract("B548")
def test_a_record_of_an_attempt_that_had_not_this_lock_is_none_of_it() -> None:
    """The first lock of a former attempt keeps the record of a later one."""
    former = held_by(replace(OTHER, locks=ALL))
    stored = Stored(held_by(replace(OTHER, locks=(API,)), API, record="open"), former)
    assert record_places(stored.read, former) == ()
    assert tuple(taking(stored).look([LOCK])) == (LOCK,)


@pytest.mark.contract("B548")
@pytest.mark.parametrize("says", [True, False], ids=["new", "old"])
@pytest.mark.parametrize("taken", [1, 2, 3])
def test_a_record_is_found_from_every_lock_however_far_its_finder_came(
    taken: int, says: bool
) -> None:
    """It stays where it was begun, in the second of the locks that its finder takes."""
    dead = replace(OTHER, locks=(DB, LOCK), records_in=(DB,) if says else ())
    stored = Stored(held_by(dead, DB, record="open"), held_by(dead))
    finder = taking(stored, Machine(MACHINE.pid))
    found = finder.look([API, LOCK])
    assert tuple(found) == ALL
    stored.signal_at = taken
    with pytest.raises(Signalled):
        finder.take(found)
    if not says:
        for lock, held in tuple(stored.held.items()):
            stored.held[lock] = replace(held, holder=replace(held.holder, records_in=()))
    for lock in (DB, LOCK):
        places = record_places(stored.read, stored.held[lock])
        assert [place.lock for place in places] == [DB]
        assert {DB, LOCK} <= set(taking(stored).look([lock]))


@pytest.mark.contract("B548")
def test_every_record_that_was_found_open_is_led_to() -> None:
    """A lock may belong to an attempt of which two others are to be finished first."""
    first = replace(OTHER, locks=(API,), records_in=(API,))
    second = replace(OTHER, locks=(DB, LOCK), records_in=(DB,))
    stored = Stored(
        held_by(first, API, record="one"), held_by(second, DB, record="two"), held_by(second)
    )
    finder = taking(stored, Machine(MACHINE.pid))
    assert finder.take(finder.look([API, LOCK])) is not None
    places = record_places(stored.read, stored.held[LOCK])
    assert [place.lock for place in places] == [API, DB]


@pytest.mark.contract("B520")
def test_a_lock_is_read_once_in_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen Deployments that were applied together cost a dozen reads."""
    stored = Stored(*(held_by(replace(OTHER, locks=ALL, records_in=(API,)), one) for one in ALL))
    asking, reads = taking(stored), list[Lock]()

    def read(lock: Lock) -> Held | None:
        reads.append(lock)
        return stored.held[lock]

    monkeypatch.setattr(stored, "read", read)
    asking.look(ALL)
    assert reads == list(ALL)


@pytest.mark.contract("B521", "B1550")
def test_waiting_says_for_whom_and_until_when() -> None:
    """The holder, its page, its last renewal (long ago), how long we watch, when we give up."""
    renewed = "2026-01-01T11:00:00.000000Z"
    notes, asking = Notes(), taking(Stored(replace(held_by(OTHER), renewed=renewed)))
    with pytest.raises(Locked) as refused:
        take_within(asking, 20.0, cast("Console", notes), [LOCK])
    [line] = notes.lines
    runs_out = (
        "(https://ci/2), last renewed at 2026-01-01T11:00:00Z; unless renewed again, it is free at"
        " 2026-01-01T12:01:00Z"
    )
    assert line == (
        f"deployment/web is locked by ci 2 {runs_out}; waiting until 2026-01-01T12:00:20Z at most"
    )
    assert refused.value.message.endswith(f"{runs_out}; waited for 20s")
    assert "if it died, its lock is free once watched for 1m" in refused.value.hint
