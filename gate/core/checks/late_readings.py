"""Counters read as they were before: two replicas of the monitoring answer in turn.

Each scrapes on its own, so that one of them knows less of a counter than was known already. That
is no fall, as of a process that begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final

from gate.core.checks.questions import Counted
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap

_MOST_IN_A_ROW: Final = 8
"""So often a counter that does not grow is read late; each replica has its value by then."""

Key = tuple[Counted, str]


@dataclass(frozen=True, slots=True)
class LateReadings:
    """What tells a value that was read late from one of a counter that fell.

    `earlier` are the values that counters had before they last grew, 0 for one that had begun;
    `times` is how often since then one was read late.
    """

    earlier: FrozenMap[Key, float] = field(default_factory=FrozenMap)
    times: FrozenMap[Key, int] = field(default_factory=FrozenMap)

    def find(self, now: Mapping[Key, float], latest: Mapping[Key, float]) -> Mapping[Key, float]:
        """Return the counters that were read late; `latest` are the values known before.

        A replica lags by one scrape at most: its value is no less than what came before the latest.
        """
        return {
            key: value
            for key, value in now.items()
            if key in self.earlier and self.earlier[key] <= value < latest[key]
        }

    def plus(self, grown: Mapping[Key, float], late: Mapping[Key, float]) -> LateReadings:
        """Return it after a reading: which counters grew, each from which value, and were late."""
        if not (grown or late):
            return self
        kept = {key: times for key, times in self.times.items() if key not in grown}
        again = {key: self.times.get(key, 0) + 1 for key in late}
        return LateReadings(FrozenMap({**self.earlier, **grown}), FrozenMap({**kept, **again}))

    def endless(self) -> Iterator[tuple[Key, int]]:
        """Yield the counters that were read late more often than replicas explain."""
        return ((key, times) for key, times in self.times.items() if times > _MOST_IN_A_ROW)
