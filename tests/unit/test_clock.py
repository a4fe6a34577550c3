"""Clocks: the real one waits on what it is told to wait for, the virtual one never waits."""

from __future__ import annotations

import math
import threading
import time
from queue import Empty, SimpleQueue
from typing import cast

import pytest

from gate.clock import LONGEST_NAP_SECONDS, LONGEST_WAIT_SECONDS, Clock, SystemClock
from gate.virtual_time import VirtualClock

EVER = 3600.0


@pytest.fixture(params=[SystemClock, VirtualClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    """Return each of the clocks."""
    made: Clock = request.param()
    return made


def test_an_event_ends_a_wait_early(clock: Clock) -> None:
    """A wait tells whether it was ended by its event; one that is set is not waited for."""
    until = threading.Event()
    assert not clock.wait(0.0, until)
    until.set()
    assert clock.wait(EVER, until)


def test_the_system_clock_has_a_message_the_moment_it_comes() -> None:
    """A receiver that waits is woken by the message, not by its time."""
    inbox: SimpleQueue[str] = SimpleQueue()
    sender = threading.Thread(target=inbox.put, args=("late",))
    sender.start()
    assert SystemClock().receive(inbox, EVER) == "late"
    sender.join()


class Waited(threading.Event):
    """An event that is set by the third look at it, and notes how long each one lasts at most."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        self.seconds.append(timeout)
        return len(self.seconds) == 3

    def get(self, *, timeout: float | None) -> str:
        """Do the same as a queue."""
        if not self.wait(timeout):
            raise Empty
        return "late"


@pytest.mark.contract("B153")
def test_no_wait_is_too_long_for_a_signal() -> None:
    """One that comes right before a wait is handled after it: every wait is a row of short ones."""
    clock, until, inbox = SystemClock(), Waited(), Waited()
    assert clock.wait(EVER, until)
    assert clock.receive(cast("SimpleQueue[str]", inbox), math.inf) == "late"
    assert until.seconds == inbox.seconds == [LONGEST_WAIT_SECONDS] * 3


def test_a_thread_that_handles_no_signal_sleeps_on() -> None:
    """Lanes wait for hours: they wake for what they wait for, and not 5 times a second."""
    clock, until, inbox = SystemClock(), Waited(), Waited()

    def wait() -> None:
        clock.wait(math.inf, until)
        clock.receive(cast("SimpleQueue[str]", inbox), math.inf)

    other = threading.Thread(target=wait)
    other.start()
    other.join()
    assert until.seconds == inbox.seconds == [LONGEST_NAP_SECONDS] * 3


class Machine:
    """A machine that is suspended for ten minutes in the first wait."""

    def __init__(self) -> None:
        self.awake_seconds = 1000.0
        self.suspended_seconds = 0.0
        self.waits = 0

    def read(self, clock: int) -> float:
        """Read a clock: CLOCK_BOOTTIME alone counts the time of a suspension."""
        counted = self.suspended_seconds if clock == time.CLOCK_BOOTTIME else 0.0
        return self.awake_seconds + counted

    def wait(self, timeout: float) -> bool:
        """Wait as the system does, by CLOCK_MONOTONIC."""
        self.waits += 1
        self.awake_seconds += timeout
        self.suspended_seconds = 600.0
        return False

    def get(self, *, timeout: float) -> str:
        """Do the same as a queue."""
        self.wait(timeout)
        raise Empty


@pytest.mark.contract("B524")
@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="CLOCK_BOOTTIME is Linux's")
@pytest.mark.parametrize("is_main", [True, False], ids=["main thread", "lane"])
@pytest.mark.parametrize("how", ["wait", "receive"])
def test_the_time_of_a_suspended_machine_counts(
    monkeypatch: pytest.MonkeyPatch, how: str, *, is_main: bool
) -> None:
    """The clock has gone on; a wait ends with its first part, and not ten minutes late."""
    machine, clock = Machine(), SystemClock()
    monkeypatch.setattr("gate.clock.time.clock_gettime", machine.read)
    monkeypatch.setattr("gate.clock.time.monotonic", lambda: machine.awake_seconds)

    def wait() -> None:
        if how == "wait":
            assert not clock.wait(300.0, cast("threading.Event", machine))
        else:
            assert clock.receive(cast("SimpleQueue[str]", machine), 300.0) is None

    began_at = clock.now()
    if is_main:
        wait()
    else:
        lane = threading.Thread(target=wait)
        lane.start()
        lane.join()
    assert clock.now() - began_at > 600.0
    assert machine.awake_seconds - 1000.0 <= LONGEST_NAP_SECONDS
    assert machine.waits == 2  # the last look takes no time


def test_the_virtual_clock_does_not_go_back() -> None:
    """Setting it to the past is an error, and negative waits move nothing."""
    clock = VirtualClock(10.0)
    clock.advance_to(12.0)
    clock.wait(-5.0)
    assert clock.now() == 12.0
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance_to(11.0)
