"""Exact increases of counters, from their values at one tick after another.

`increase()` extrapolates, and leaves out what a new series had counted when it was first seen: only
the new version's series are new. Here the first value of a counter that begins in the phase counts,
and one that has fallen has begun again from 0, where so many events are likely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from gate.core.checks.late_readings import Key, LateReadings
from gate.core.checks.questions import Counted, Series
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap

_LEAST_FALLS: Final = 4
_FALLS_OF_A_GAUGE: Final = 1 / 3
"""A counter falls when its process begins again, not at a third of all readings."""

_MOST_EVENTS: Final = 1e13
"""Ten thousand a second for thirty years; bytes or nanoseconds are no events."""
_LIKELY_AT_ONCE: Final = 3.0
_LEAST_USUAL: Final = 10.0
"""What counters show that begin, or begin again, was counted since the reading before: hardly more
than a few times the most events that either version counted between two. Otherwise they were read
late, as from another replica of the monitoring, or were there all along under other labels."""


class NotCounterError(ValueError):
    """Values that no counter of events has."""


@dataclass(frozen=True, slots=True)
class Increase:
    """The events since the reading before."""

    bad: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class CounterReadings:
    """The latest values of one version's counters; `readings` is how often they were read.

    `most_grown` is the largest increase of all counters of `total` together from one reading to the
    next. `lows` are the values of counters that fell and may yet prove to have been read late.
    """

    latest: FrozenMap[Key, float] = field(default_factory=FrozenMap)
    falls: FrozenMap[Key, int] = field(default_factory=FrozenMap)
    readings: int = 0
    most_grown: float = 0.0
    lows: FrozenMap[Key, float] = field(default_factory=FrozenMap)
    late: LateReadings = field(default_factory=LateReadings)

    def plus(
        self,
        series: Iterable[Series],
        pods: Collection[str] | None = None,
        most_elsewhere: float = 0.0,
    ) -> tuple[CounterReadings, Increase]:
        """Read once more; the first reading is where counting starts. Raises NotCounterError.

        A counter that is missing now keeps its value: nothing is lost by a missed scrape. A restart
        shows by a fall: a counter that has passed its old value by the next reading loses that one.
        With `pods` all are read, and the events of those alone are counted. `most_elsewhere` is the
        `most_grown` of the other version, which serves the same requests.
        """
        series = tuple(series)
        now = _values(series)
        if not self.readings:
            return CounterReadings(FrozenMap(now), readings=1), Increase()
        late = self.late.find(now, self.latest)
        now = {key: value for key, value in now.items() if key not in late}
        counting = {_key(each) for each in series if pods is None or each.pod in pods}
        grown = self._find_growth(now)
        begun = {key: value for key, value in now.items() if key not in grown}
        most = max(self.most_grown, _sum(grown, Counted.TOTAL))
        usual = max(most, most_elsewhere, _LEAST_USUAL)
        is_likely = all(_sum(begun, kind) <= _LIKELY_AT_ONCE * usual for kind in Counted)
        more = {**grown, **begun} if is_likely else grown
        counted = {key: value for key, value in more.items() if key in counting}
        starts = {key: 0.0 if key in begun else self.latest[key] for key in more if more[key]}
        after = self._after(now, {} if is_likely else begun, most)
        after = replace(after, late=self.late.plus(starts, late))
        return after, Increase(_sum(counted, Counted.BAD), _sum(counted, Counted.TOTAL))

    def _find_growth(self, now: Mapping[Key, float]) -> dict[Key, float]:
        """Return the increases of counters that went on from what is known of them."""
        starts = {key: self._find_start(key, value) for key, value in now.items()}
        grown = {key: now[key] - start for key, start in starts.items() if start is not None}
        return {key: increase for key, increase in grown.items() if increase >= 0}

    def _find_start(self, key: Key, value: float) -> float | None:
        """Return from where a counter went on to `value`, None for one that is new.

        One that stays below its old value at two readings has begun again: it goes on from the low.
        """
        before = self.latest.get(key)
        is_below = before is not None and value < before
        return self.lows.get(key, before) if is_below else before

    def _after(
        self, now: Mapping[Key, float], unlikely: Mapping[Key, float], most: float
    ) -> CounterReadings:
        """Return what is known after a reading; what is `unlikely` of it was not counted."""
        fallen = [key for key, value in now.items() if value < self.latest.get(key, 0.0)]
        lows = {key: unlikely[key] for key in fallen if key in unlikely}
        known = {key: value for key, value in now.items() if key not in lows}
        falls = {key: self.falls.get(key, 0) + 1 for key in fallen}
        missing = {key: low for key, low in self.lows.items() if key not in now}
        return replace(
            self,
            latest=FrozenMap({**self.latest, **known}) if known else self.latest,
            falls=FrozenMap({**self.falls, **falls}) if falls else self.falls,
            readings=self.readings + 1,
            most_grown=most,
            lows=FrozenMap({**missing, **lows}),
        )

    def has(self, counted: Counted) -> bool:
        """Tell whether any counter of that kind was ever there."""
        return any(kind is counted for kind, _ in self.latest)

    def why_gauge(self) -> str:
        """Return what shows that one of the series is a gauge, "" for nothing."""
        endless = dict(self.late.endless())
        for (counted, name), fell in {**dict.fromkeys(endless, 0), **self.falls}.items():
            falls = fell + endless.get((counted, name), 0)
            if falls >= _LEAST_FALLS and falls > self.readings * _FALLS_OF_A_GAUGE:
                return (
                    f"{counted}: a series fell {falls} times in {self.readings} readings, as a"
                    " gauge does and no counter"
                )
        return ""


def _sum(values: Mapping[Key, float], counted: Counted) -> float:
    return sum(value for (kind, _), value in values.items() if kind is counted)


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
        if each.value > _MOST_EVENTS:
            raise NotCounterError(f"{each.counted}: {each.value:.3g} are more than events can be")
        key = _key(each)
        found[key] = found.get(key, 0.0) + each.value
    return found
