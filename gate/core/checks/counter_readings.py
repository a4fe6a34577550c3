"""Exact increases of counters, from their values at one tick after another.

`increase()` extrapolates, and leaves out what a new series had counted when it was first seen: only
the new version's series are new. Here the first value of a counter that begins in the phase counts,
and one that has fallen has begun again from 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from gate.core.checks.questions import Counted, Series
from gate.core.model.body import FrozenMap

_LEAST_FALLS: Final = 4
_FALLS_OF_A_GAUGE: Final = 1 / 3
"""A counter falls when its process begins anew, not at a third of all readings."""

Key = tuple[Counted, str]


class NotCounterError(ValueError):
    """Values that no counter of events has."""


@dataclass(frozen=True, slots=True)
class Increase:
    """The events since the reading before."""

    bad: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class CounterReadings:
    """The latest values of one version's counters; `readings` is how often they were read."""

    latest: FrozenMap[Key, float] = field(default_factory=FrozenMap)
    falls: FrozenMap[Key, int] = field(default_factory=FrozenMap)
    readings: int = 0

    def plus(
        self, series: Iterable[Series], pods: Collection[str] | None = None
    ) -> tuple[CounterReadings, Increase]:
        """Read once more; the first reading is where counting starts. Raises NotCounterError.

        A counter that is missing now keeps its value: nothing is lost by a missed scrape. A restart
        shows by a fall: a counter that has passed its old value by the next reading loses that one.
        With `pods` all are read, and the events of those alone are counted.
        """
        series = tuple(series)
        now = _values(series)
        counting = {_key(each) for each in series if pods is None or each.pod in pods}
        grown = {Counted.BAD: 0.0, Counted.TOTAL: 0.0}
        fallen: dict[Key, int] = {}
        for key, value in now.items() if self.readings else ():
            before = self.latest.get(key, 0.0)
            if key in counting:
                grown[key[0]] += value if value < before else value - before
            if value < before:
                fallen[key] = self.falls.get(key, 0) + 1
        after = CounterReadings(
            FrozenMap({**self.latest, **now}) if now else self.latest,
            FrozenMap({**self.falls, **fallen}) if fallen else self.falls,
            self.readings + 1,
        )
        return after, Increase(grown[Counted.BAD], grown[Counted.TOTAL])

    def has(self, counted: Counted) -> bool:
        """Tell whether any counter of that kind was ever there."""
        return any(kind is counted for kind, _ in self.latest)

    def why_gauge(self) -> str:
        """Return what shows that one of the series is a gauge, "" for nothing."""
        for (counted, _), falls in self.falls.items():
            if falls >= _LEAST_FALLS and falls > self.readings * _FALLS_OF_A_GAUGE:
                return (
                    f"{counted}: a series fell {falls} times in {self.readings} readings, as a"
                    " gauge does and no counter"
                )
        return ""


def _key(series: Series) -> Key:
    if series.counted is None:
        raise NotCounterError("the answer does not say what its series count")
    return series.counted, series.identity


def _values(series: Iterable[Series]) -> dict[Key, float]:
    """Return the counters' values; those whose names alone differ are one."""
    found: dict[Key, float] = {}
    for each in series:
        if not (each.value >= 0 and each.value.is_integer()):
            raise NotCounterError(f"{each.counted}: {each.value:g} is no count of events")
        key = _key(each)
        found[key] = found.get(key, 0.0) + each.value
    return found
