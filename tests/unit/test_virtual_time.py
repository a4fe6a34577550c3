"""Virtual time: turns in a fixed order, jumps where all wait, an end that leaves no thread."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

import pytest

from gate.clock import Clock
from gate.virtual_time import VirtualClock


def sleep(clock: Clock) -> None:
    """Wait for what does not come."""
    clock.wait(1e9)


def test_threads_take_turns_at_the_times_that_they_wait_for() -> None:
    """Two sleepers and their starter see each other's steps in the order of time."""
    clock, seen = VirtualClock(), []

    def sleeper(name: str, seconds: float) -> None:
        for _ in range(3):
            clock.wait(seconds)
            seen.append((name, clock.now()))

    ends = [
        clock.start(lambda: sleeper("a", 2.0), "a"),
        clock.start(lambda: sleeper("b", 3.0), "b"),
    ]
    assert all(clock.wait(100.0, ended) for ended in ends)
    assert seen == [("a", 2.0), ("b", 3.0), ("a", 4.0), ("b", 6.0), ("a", 6.0), ("b", 9.0)]
    assert clock.now() == 9.0


class Bell:
    """Something else that happens in time."""

    def __init__(self, *times: float) -> None:
        self.left = list(times)
        self.rung: list[float] = []

    def due_at(self) -> float:
        """Return the next time."""
        return self.left[0] if self.left else float("inf")

    def run_due(self, now: float) -> None:
        """Ring."""
        while self.left and self.left[0] <= now:
            self.rung.append(self.left.pop(0))


def test_a_schedule_shares_the_time() -> None:
    """It is called at its own times, before those who wait for the same moment."""
    bell = Bell(1.0, 2.0, 5.0)
    clock = VirtualClock(schedule=bell)
    assert clock.wait_until(lambda: len(bell.rung) == 2, 10.0)
    assert clock.now() == 2.0
    clock.wait(3.0)
    assert bell.rung == [1.0, 2.0, 5.0]


def test_an_interrupt_is_called_in_the_thread_that_waits() -> None:
    """As a signal's handler is: what it raises ends the wait, else the wait goes on."""
    clock, seen = VirtualClock(), []
    me = threading.get_ident()

    def send() -> None:
        clock.wait(1.0)
        clock.interrupt(me, lambda: seen.append((threading.get_ident(), clock.now())))
        clock.wait(1.0)
        clock.interrupt(me, _raise)

    clock.start(send, "sender")
    with pytest.raises(KeyboardInterrupt):
        clock.wait(10.0)
    assert seen == [(me, 1.0)]
    assert clock.now() == 2.0


def _raise() -> None:
    raise KeyboardInterrupt


def test_waiting_for_what_cannot_come_is_an_error() -> None:
    """All wait for each other: it is said, with their names, and nobody hangs."""
    clock = VirtualClock()
    with pytest.raises(RuntimeError, match="nothing will ever happen: MainThread"):
        clock.receive(SimpleQueue())


@pytest.mark.parametrize("waits", [True, False])
def test_at_the_end_of_time_every_thread_ends(waits: bool) -> None:
    """Those that wait, and those that had no turn yet; what they clean up is done."""
    clock, cleaned = VirtualClock(), []

    def work() -> None:
        try:
            clock.wait(1e9)
        finally:
            cleaned.append(True)

    before = set(threading.enumerate())
    ends = [clock.start(work, "worker") for _ in range(3)]
    if waits:
        clock.wait(1.0)
    started = set(threading.enumerate()) - before
    clock.end()
    for thread in started:
        thread.join(10)
    assert not any(thread.is_alive() for thread in started)
    assert all(ended.is_set() for ended in ends)
    assert len(cleaned) == (3 if waits else 0)


def test_a_thread_that_fails_gives_its_turn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is for the hook; the others go on."""
    heard: list[Callable[[], None] | object] = []
    monkeypatch.setattr(threading, "excepthook", lambda about: heard.append(about.exc_type))
    clock = VirtualClock()

    def fail() -> None:
        clock.wait(1.0)
        raise LookupError

    ended = clock.start(fail, "failing")
    assert clock.wait(5.0, ended)
    assert clock.now() == 1.0
    clock.wait(1.0)
    for thread in threading.enumerate():
        if thread.name == "failing":
            thread.join(10)
    assert heard == [LookupError]


def test_what_breaks_the_schedule_is_told_to_who_made_the_clock() -> None:
    """Whoever moved the time meets nothing of it: the test, or the rehearsal, ends at once."""

    class Broken(Bell):
        def run_due(self, now: float) -> None:
            raise LookupError(now)

    clock = VirtualClock(schedule=Broken(3.0))
    ended = clock.start(partial(sleep, clock), "bystander")
    with pytest.raises(LookupError):
        clock.wait(math.inf, ended)
    assert clock.now() == 3.0
    clock.end()


def test_a_group_ends_alone() -> None:
    """Its threads, and those of groups within, end; others and the time go on."""
    clock = VirtualClock()
    seen: list[str] = []

    def work(own: Clock, name: str) -> None:
        try:
            while not own.wait(1.0):
                seen.append(name)
        finally:
            seen.append(f"end of {name}")

    doomed = clock.group()
    ends = [
        own.start(partial(work, own, name), name)
        for own, name in ((doomed, "a"), (doomed.group(), "b"), (clock.group(), "c"))
    ]
    clock.wait(1.5)
    before = set(threading.enumerate())
    doomed.end()
    assert clock.now() == 1.5
    assert [end.is_set() for end in ends] == [True, True, False]
    assert {thread.name for thread in before - set(threading.enumerate())} == {"a", "b"}
    clock.wait(1.0)
    assert seen == ["a", "b", "c", "end of a", "end of b", "c"]
    clock.end()
    assert ends[2].is_set()
    assert not {"a", "b", "c"} & {thread.name for thread in threading.enumerate()}
