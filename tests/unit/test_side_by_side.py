"""Several questions at once: their answers in order, and an end at the first error."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gate.clock import SystemClock
from gate.side_by_side import MOST_AT_ONCE, each

CLOCK = SystemClock()


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_answers_come_in_the_order_of_the_items(count: int) -> None:
    """However many there are, and whoever is first."""
    assert each(CLOCK, lambda number: number * 2, range(count)) == [n * 2 for n in range(count)]


def test_a_few_are_under_way_at_once() -> None:
    """As many as the bound allows, and no more: a server has others to serve."""
    under_way = threading.Barrier(MOST_AT_ONCE)
    counted = threading.Lock()
    now, most = [0], [0]

    def ask(_: int) -> None:
        with counted:
            now[0] += 1
            most[0] = max(most[0], now[0])
        under_way.wait(10)
        with counted:
            now[0] -= 1

    each(CLOCK, ask, range(MOST_AT_ONCE * 3))
    assert most[0] == MOST_AT_ONCE


def test_one_item_needs_no_thread() -> None:
    """The usual manifest has one Deployment."""
    assert each(CLOCK, lambda _: threading.current_thread(), ["one"]) == [
        threading.current_thread()
    ]


def test_the_first_items_error_is_raised_and_nothing_more_is_begun() -> None:
    """A server that is away is not asked for each of 500 objects."""
    asked = []
    together = threading.Barrier(2)

    def ask(number: int) -> int:
        asked.append(number)
        if number in (2, 3):
            together.wait(10)
            raise LookupError(f"item {number}")
        return number

    with pytest.raises(LookupError, match="item 2"):
        each(CLOCK, ask, range(10_000))
    assert len(asked) < 10_000


def test_the_main_thread_asks_nothing_itself() -> None:
    """It waits where a signal ends the wait; any other thread does its share."""
    asked_by: list[threading.Thread] = []
    together = threading.Barrier(2)

    def ask(_: int) -> None:
        together.wait(10)
        asked_by.append(threading.current_thread())

    each(CLOCK, ask, range(2))
    assert threading.current_thread() not in asked_by
    asked_by.clear()
    other = threading.Thread(target=each, args=(CLOCK, ask, range(2)))
    other.start()
    other.join()
    assert other in asked_by


class Ended(BaseException):
    """What a signal raises."""


class Interrupted(SystemClock):
    """A clock whose every wait is ended by a signal."""

    def __init__(self) -> None:
        self.ends: list[threading.Event] = []

    def start(self, work: Callable[[], None], name: str) -> threading.Event:
        """Remember how the end of the thread is told."""
        self.ends.append(super().start(work, name))
        return self.ends[-1]

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:  # noqa: ARG002 - the clock's signature
        """Raise what a signal raises."""
        raise Ended


def test_a_signal_ends_the_wait_and_nothing_more_is_begun() -> None:
    """Of 500 objects those are asked for that were already."""
    asked: list[int] = []
    clock, going_on = Interrupted(), threading.Event()

    def ask(number: int) -> None:
        asked.append(number)
        going_on.wait(10)

    with pytest.raises(Ended):
        each(clock, ask, range(500))
    going_on.set()
    assert all(end.wait(10) for end in clock.ends)
    assert len(asked) <= MOST_AT_ONCE


def test_whatever_a_worker_raises_reaches_the_caller() -> None:
    """Also what is no Exception."""

    def ask(_: int) -> None:
        raise Ended

    with pytest.raises(Ended):
        each(CLOCK, ask, range(3))
