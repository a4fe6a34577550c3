"""The bound on requests to a server in trouble."""

from __future__ import annotations

import threading

import pytest

from gate.kube.pace import KEPT_FOR_WRITES, MOST_A_SECOND, TROUBLE_SECONDS, Pace
from gate.virtual_time import VirtualClock


def taken(pace: Pace, clock: VirtualClock, count: int, *, write: bool = False) -> list[float]:
    """Take so many and return the times at which they were had."""
    times = []
    for _ in range(count):
        pace.take(write=write)
        times.append(clock.now())
    return times


def most_in_a_second(times: list[float]) -> int:
    """Return the largest number within any second."""
    return max(sum(begin <= at < begin + 1.0 for at in times) for begin in times)


@pytest.mark.contract("B163")
def test_a_server_that_answers_is_asked_at_once() -> None:
    """However often."""
    clock = VirtualClock()
    began = clock.now()
    assert taken(Pace(clock, threading.Event()), clock, 100) == [began] * 100


@pytest.mark.contract("B163")
def test_a_server_in_trouble_is_asked_ten_times_a_second_at_most() -> None:
    """What was sent right before counts too, and reads leave room for writes."""
    clock = VirtualClock()
    pace = Pace(clock, threading.Event())
    before = taken(pace, clock, 4)
    pace.troubled()
    reads = taken(pace, clock, 28)
    assert most_in_a_second([*before, *reads]) == MOST_A_SECOND - KEPT_FOR_WRITES
    pace.troubled()
    began = clock.now()
    writes = taken(pace, clock, KEPT_FOR_WRITES, write=True)
    assert writes == [began] * KEPT_FOR_WRITES
    assert most_in_a_second([*before, *reads, *writes]) == MOST_A_SECOND


def test_the_bound_ends_with_the_trouble() -> None:
    """A while after the last failure nobody waits any more."""
    clock = VirtualClock()
    pace = Pace(clock, threading.Event())
    pace.troubled()
    clock.wait(TROUBLE_SECONDS)
    ended = clock.now()
    assert taken(pace, clock, 50) == [ended] * 50


def test_who_ends_waits_for_nothing() -> None:
    """A stopping run sends its last requests at once."""
    clock, stopping = VirtualClock(), threading.Event()
    pace = Pace(clock, stopping)
    began = clock.now()
    pace.troubled()
    stopping.set()
    taken(pace, clock, MOST_A_SECOND)
    assert clock.now() == began
