"""The bound on requests to a server in trouble."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable
from functools import partial

import pytest

from gate.kube.answers.failures import ApiError, NotFound, TooManyRequests
from gate.kube.client.pace import (
    KEPT_FOR_WRITES,
    MOST_A_SECOND,
    TRAVEL_SECONDS,
    TROUBLE_SECONDS,
    Pace,
)
from gate.virtual_time import VirtualClock
from tests.long import longer

READS = MOST_A_SECOND - KEPT_FOR_WRITES
THREADS = 12
LONGEST_SECONDS = 1.5


def pace_on(clock: VirtualClock) -> Pace:
    """Return a pace that nobody stops."""
    return Pace(clock, threading.Event())


def sent(
    pace: Pace,
    clock: VirtualClock,
    count: int,
    *,
    write: bool = False,
    error: ApiError | None = None,
) -> list[float]:
    """Send so many, answered at once, and return when each was sent."""
    times = list[float]()
    for _ in range(count):
        with contextlib.suppress(ApiError), pace.request(write=write):
            times.append(clock.now())
            if error is not None:
                raise error
    return times


def most_in_a_second(times: list[float]) -> int:
    """Return the largest number within any second."""
    return max(sum(begin <= at < begin + 1.0 for at in times) for begin in times)


@pytest.mark.contract("B503")
@pytest.mark.parametrize("answer", [None, NotFound("no such thing")], ids=["yes", "no"])
def test_a_server_that_answers_is_asked_at_once(answer: ApiError | None) -> None:
    """However often: a no is an answer, too."""
    clock = VirtualClock()
    began = clock.now()
    assert sent(pace_on(clock), clock, 100, error=answer) == [began] * 100


@pytest.mark.contract("B503")
def test_a_server_in_trouble_is_asked_ten_times_a_second_at_most() -> None:
    """What was sent right before counts too, and reads leave room for writes."""
    clock = VirtualClock()
    pace = pace_on(clock)
    before = sent(pace, clock, 4)
    pace.note_trouble()
    reads = sent(pace, clock, 28)
    assert most_in_a_second([*before, *reads]) == READS
    pace.note_trouble()
    began = clock.now()
    writes = sent(pace, clock, KEPT_FOR_WRITES, write=True)
    assert writes == [began] * KEPT_FOR_WRITES
    assert most_in_a_second([*before, *reads, *writes]) == MOST_A_SECOND


def under_way(pace: Pace, clock: VirtualClock, write: bool, seconds: float) -> None:
    """Send a request whose answer takes a while."""
    with pace.request(write=write):
        clock.wait(seconds)


@pytest.mark.contract("B503")
@pytest.mark.parametrize(
    ("seconds", "fewest", "most"), [(0.5, 0.4, 0.5), (60.0, 0.0, TRAVEL_SECONDS + 1.0)]
)
def test_what_is_under_way_counts_until_it_is_answered(
    seconds: float, fewest: float, most: float
) -> None:
    """One read more waits for an answer, not for ever; a write does not wait."""
    clock = VirtualClock()
    pace = pace_on(clock)
    for number in range(READS):
        clock.start(partial(under_way, pace, clock, write=False, seconds=seconds), f"read-{number}")
    clock.wait(0.1)
    began = clock.now()
    [write] = sent(pace, clock, 1, write=True)
    [read] = sent(pace, clock, 1)
    assert write == began
    assert fewest <= read - began <= most


def failing(pace: Pace, clock: VirtualClock, seed: int, arrived: list[float]) -> None:
    """Send one after another as they are let through: each arrives on its way, and fails."""
    chance = random.Random(seed)
    for _ in range(20):
        with contextlib.suppress(ApiError), pace.request(write=chance.random() < 0.2):
            clock.wait(chance.uniform(0.0, LONGEST_SECONDS / 2))
            arrived.append(clock.now())
            clock.wait(chance.uniform(0.0, LONGEST_SECONDS / 2))
            pace.note_trouble()
            raise TooManyRequests("later")


@pytest.mark.contract("B503")
@pytest.mark.parametrize("seed", [0, 1, *map(longer, range(2, 10))])
def test_no_second_of_the_server_sees_more(seed: int) -> None:
    """However long each request is on its way, counted where it arrives."""
    clock, arrived = VirtualClock(), list[float]()
    pace = pace_on(clock)
    work: Callable[[int], None] = partial(failing, pace, clock, arrived=arrived)
    ended = [
        clock.start(partial(work, seed * THREADS + number), f"thread-{number}")
        for number in range(THREADS)
    ]
    assert all(clock.wait(1000.0, each) for each in ended)
    assert len(arrived) == 20 * THREADS
    assert most_in_a_second(sorted(arrived)) <= MOST_A_SECOND


@pytest.mark.contract("B503")
@pytest.mark.parametrize("stops", [False, True])
def test_the_bound_ends_with_the_trouble(stops: bool) -> None:
    """A while after the last failure, or as the run stops, nobody waits any more."""
    clock, stopping = VirtualClock(), threading.Event()
    pace = Pace(clock, stopping)
    pace.note_trouble()
    if stops:
        stopping.set()
    else:
        clock.wait(TROUBLE_SECONDS)
    ended = clock.now()
    assert sent(pace, clock, 50) == [ended] * 50
