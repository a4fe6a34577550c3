"""Counts as a gate reads them: from counters of pods that reset, are missed, and are born.

The increases are those of the gate's own code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gate.core.checks.counter_readings import CounterReadings
from gate.core.checks.late_readings import Key
from gate.core.checks.questions import Counted, Series
from tests.statistics.traffic import PODS, Counts, Numbers


@dataclass(frozen=True, slots=True)
class Scrapes:
    """What happens to counters: shares of the ticks at which a pod restarts, or is not scraped.

    `series` is how many series each pod's bad requests fall into. With `born` those of the new
    version do not exist until they count something; those of the old one have counted for long.
    With `ticks_in_turn` each version is one pod, which is scraped once in so many ticks, and never
    at the same tick as the other. `unseen` are the ticks, from the first to before the end, at
    which no pod of the new version, or with `unseen_old` of the old one, is scraped.
    """

    restarts: float = 0
    missed: float = 0
    series: int = 1
    born: bool = False
    ticks_in_turn: int = 1
    unseen: tuple[int, int] = (0, 0)
    unseen_old: tuple[int, int] = (0, 0)


def read_counters(
    counts: Counts, scrapes: Scrapes, source: np.random.Generator, *, drops_births: bool = False
) -> Counts:
    """Return the increases that the gate sees; `drops_births` is what `increase()` would see."""
    if scrapes.ticks_in_turn > 1:
        return _scrape_in_turn(counts, scrapes.ticks_in_turn)
    if scrapes.unseen != scrapes.unseen_old:
        return _leave_unseen(counts, scrapes)
    runs = range(counts.bad_new.shape[0])
    new = [
        _read(
            counts.bad_new[run],
            counts.total_new[run],
            scrapes,
            source,
            is_new=True,
            drops_births=drops_births,
        )
        for run in runs
    ]
    old = [
        _read(
            counts.bad_old[run],
            counts.total_old[run],
            scrapes,
            source,
            is_new=False,
            drops_births=False,
        )
        for run in runs
    ]
    sides = [np.array([side[at] for side in sides]) for sides in (new, old) for at in (0, 1)]
    return Counts(*sides)


def _leave_unseen(counts: Counts, scrapes: Scrapes) -> Counts:
    """Return what is seen where all that a version counts in some ticks comes with the next."""
    new, old = scrapes.unseen, scrapes.unseen_old
    return Counts(
        _delay(counts.bad_new, *new),
        _delay(counts.total_new, *new),
        _delay(counts.bad_old, *old),
        _delay(counts.total_old, *old),
    )


def _delay(side: Numbers, first: int, end: int) -> Numbers:
    delayed = side.copy()
    delayed[:, end] += delayed[:, first:end].sum(axis=1)
    delayed[:, first:end] = 0
    return delayed


def _scrape_in_turn(counts: Counts, every: int) -> Counts:
    """Return what is seen of both: the new version `every - 1` ticks later than the old one."""
    new, old = every - 1, 0
    return Counts(
        _scrape(counts.bad_new, every, new),
        _scrape(counts.total_new, every, new),
        _scrape(counts.bad_old, every, old),
        _scrape(counts.total_old, every, old),
    )


def _scrape(side: Numbers, every: int, first: int) -> Numbers:
    """Return what is seen at each tick: nothing, or all since the scrape before."""
    scraped_at = (np.arange(side.shape[1]) - first) // every * every + first
    sums = np.cumsum(side, axis=1)[:, np.maximum(scraped_at, 0)]
    seen: Numbers = np.diff(np.where(scraped_at < 0, 0, sums), axis=1, prepend=0)
    return seen


def _read(
    bad: Numbers,
    total: Numbers,
    scrapes: Scrapes,
    source: np.random.Generator,
    *,
    is_new: bool,
    drops_births: bool,
) -> tuple[Numbers, Numbers]:
    """Play one version's pods, and read their counters after each tick."""
    begins_at = 0.0 if is_new and scrapes.born else 1000.0
    names = [(Counted.TOTAL, f"{pod}") for pod in range(PODS)]
    names += [(Counted.BAD, f"{pod} {one}") for pod in range(PODS) for one in range(scrapes.series)]
    values = dict.fromkeys(names, begins_at)
    readings, _ = CounterReadings().plus(_series(values, set()))
    found = np.zeros((2, len(bad)))
    first = {name: 0.0 for name, value in values.items() if value}
    for tick in range(len(bad)):
        restarted = source.random(PODS) < scrapes.restarts
        for name in names:
            if restarted[int(name[1].split()[0])]:
                values[name] = 0.0
        for counted, events in ((Counted.TOTAL, total[tick]), (Counted.BAD, bad[tick])):
            mine = [name for name in names if name[0] is counted]
            spread = source.multinomial(int(events), [1 / len(mine)] * len(mine))
            for name, more in zip(mine, spread.tolist(), strict=True):
                values[name] += more
        missed = {pod for pod in range(PODS) if source.random() < scrapes.missed}
        series = _series(values, missed)
        if drops_births:
            series = _without_births(series, first)
        readings, increase = readings.plus(series)
        found[:, tick] = increase.bad, increase.total
    return found[0], found[1]


def _series(values: dict[Key, float], missed: set[int]) -> list[Series]:
    """Return the counters that exist, without those of pods that were not scraped."""
    return [
        Series(float(value), counted=name[0], identity=name[1])
        for name, value in values.items()
        if value and int(name[1].split()[0]) not in missed
    ]


def _without_births(series: list[Series], first: dict[Key, float]) -> list[Series]:
    """Return the series as `increase()` takes them: each counts from the first value that is seen.

    `first` keeps these values.
    """
    return [
        replace(each, value=each.value - first.setdefault(_key(each), each.value))
        for each in series
    ]


def _key(series: Series) -> Key:
    return Counted(series.counted or ""), series.identity
