"""Increases of counters: exact through resets, missed scrapes and births."""

from __future__ import annotations

import math

import pytest

from gate.core.checks.counter_readings import CounterReadings, Increase, NotCounterError
from gate.core.checks.questions import Counted, Series
from tests.table import each

Reading = dict[str, float]


def series(reading: Reading) -> list[Series]:
    """Return counters by what they count and an identity, as in `bad a`."""
    return [
        Series(float(value), counted=Counted(name.split()[0]), identity=name.split()[1])
        for name, value in reading.items()
    ]


def increases(*readings: Reading) -> list[Increase]:
    """Return the increase that each reading adds."""
    known, found = CounterReadings(), []
    for reading in readings:
        known, increase = known.plus(series(reading))
        found.append(increase)
    return found


@pytest.mark.contract("B1150")
@each(
    ("readings", "bad", "total"),
    [
        ([{"total a": 90}, {"total a": 100}], 0, 10),
        ([{"total a": 90, "bad a": 5}, {"total a": 100, "bad a": 6}], 1, 10),
        # A series that is born in the phase counts from 0.
        ([{"total a": 90}, {"total a": 100, "bad a": 3}], 3, 10),
        ([{}, {"total a": 7}, {"total a": 9}], 0, 9),
        # A reset: what is there now was counted since.
        ([{"total a": 90}, {"total a": 4}, {"total a": 6}], 0, 6),
        # A missed scrape, even if the series is stale and gone for a while, loses nothing.
        ([{"total a": 90}, {}, {"total a": 120}], 0, 30),
        ([{"total a": 90}, {"total a": 90}, {"total a": 120}], 0, 30),
        # One answer is older than the one before, as of another replica of the monitoring.
        ([{"total a": 5000}, {"total a": 5010}, {"total a": 4990}, {"total a": 5030}], 0, 30),
        # It stays low: it has begun again, faster than is likely, and is counted from there.
        ([{"total a": 5000}, {"total a": 5010}, {"total a": 900}, {"total a": 930}], 0, 40),
        ([{"total a": 5000}, {"total a": 5010}, {"total a": 900}, {}, {"total a": 930}], 0, 40),
        # Of a counter that has begun a moment ago as well; a lower value yet is a restart.
        ([{}, {"total a": 9}, {"total a": 5}, {"total a": 5}, {"total a": 16}], 0, 16),
        ([{}, {"total a": 9}, {"total a": 16}, {"total a": 9}, {"total a": 20}], 0, 20),
        ([{}, {"total a": 9}, {"total a": 16}, {"total a": 8}, {"total a": 9}], 0, 25),
        # A counter with a past is seen first: it was there all along, or under other labels.
        ([{}, {"total a": 5000, "bad a": 9}, {"total a": 5010, "bad a": 9}], 0, 10),
        ([{"total a": 5000}, {"total a": 5010}, {"total b": 5020}, {"total b": 5030}], 0, 20),
        # What is bad does not begin without the events that it is of.
        ([{}, {"total a": 5000, "bad a": 20}, {"total a": 5100, "bad a": 21}], 1, 100),
        # A series that ends keeps what it has added.
        ([{"total a": 90, "total b": 5}, {"total a": 95, "total b": 9}, {"total a": 96}], 0, 10),
    ],
)
def test_increases_are_exact(readings: list[Reading], bad: float, total: float) -> None:
    """The first reading is where counting starts; after it not one event is lost or made up."""
    found = increases(*readings)
    assert found[0] == Increase()
    assert sum(each.bad for each in found) == bad
    assert sum(each.total for each in found) == total


@pytest.mark.contract("B1150")
def test_what_the_other_version_serves_tells_what_is_likely() -> None:
    """A new version that takes over at once is counted whole where the old one served as much."""
    known, _ = CounterReadings().plus([])
    assert known.plus(series({"total a": 90, "bad a": 2}))[1] == Increase()
    served = known.plus(series({"total a": 90, "bad a": 2}), most_elsewhere=80.0)
    assert served[1] == Increase(2.0, 90.0)


@pytest.mark.contract("B1154")
@each("value", [0.5, -1.0, math.nan, math.inf])
def test_what_is_no_count_of_events_is_refused(value: float) -> None:
    """A gauge, a duration, a share."""
    with pytest.raises(NotCounterError, match=r"bad: .* is no count of events"):
        increases({"bad a": value})
    with pytest.raises(NotCounterError, match="are more than events can be"):
        increases({"bad a": 1e17})


@pytest.mark.contract("B1154")
@each(("values", "falls", "readings"), [((100, 90), 4, 8), ((100, 101), 9, 19)], ids=str)
def test_a_gauge_gives_itself_away(values: tuple[float, ...], falls: int, readings: int) -> None:
    """It falls again and again; one that merely trembles, as long as replicas might explain it."""
    known = CounterReadings()
    for at in range(readings):
        assert not known.why_gauge()
        known, _ = known.plus(series({"total a": values[at % len(values)]}))
    said = f"total: a series fell {falls} times in {readings} readings"
    assert known.why_gauge().startswith(said)


@pytest.mark.contract("B1537")
def test_two_replicas_that_answer_in_turn_count_each_event_once() -> None:
    """Both scrape a pod that counts one event a second every 30 s, the second 15 s later."""
    scraped = [(at // 30 * 30, (at - 15) // 30 * 30 + 15)[at // 5 % 2] for at in range(30, 300, 5)]
    counted = [{"total a": float(value)} for value in scraped]
    found = increases({}, *counted)
    assert sum(each.total for each in found) == max(scraped)
    known = CounterReadings()
    for reading in counted:
        known, _ = known.plus(series(reading))
        assert not known.why_gauge()


@pytest.mark.contract("B1154")
def test_a_pod_that_crashes_again_and_again_has_counters() -> None:
    """Its counters begin again a few times, between which they grow."""
    readings = [{"total a": float(1 + at % 5)} for at in range(60)]
    assert sum(each.total for each in increases(*readings)) == 59
    known = CounterReadings()
    for reading in readings:
        known, _ = known.plus(series(reading))
    assert not known.why_gauge()


def test_counters_that_differ_in_name_alone_are_one() -> None:
    """A selector may name several metrics."""
    known, _ = CounterReadings().plus([])
    twice = [Series(3.0, counted=Counted.BAD, identity="a")] * 2
    assert known.plus(twice)[1] == Increase(6.0)


def test_series_that_count_nothing_are_refused() -> None:
    """An answer to some other question."""
    with pytest.raises(NotCounterError, match="does not say"):
        CounterReadings().plus([Series(1.0)])
