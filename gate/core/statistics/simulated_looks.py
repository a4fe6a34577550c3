"""Looks at two versions as they are expected to serve, drawn by chance.

Events of a look are independent: their number is Poisson's, and so are the bad ones among them, by
thinning. A draw is a search in a table; `uniform` gives numbers from 0 to 1, 1 excluded.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from gate.core.frozen import dataclass

Uniform = Callable[[], float]

_HARDLY_VARIES: Final = 100_000.0
"""A mean from which on a count is taken as its mean: it deviates by less than 0.4 %."""
_REACH: Final = 8
"""How many standard deviations a table reaches to each side."""


@dataclass(frozen=True, slots=True)
class PlannedTraffic:
    """What both versions are expected to serve: `events` together from one look to the next.

    `rate` is the old version's share of bad events. New's share of all events goes evenly from
    `first_share` at the first look to `last_share` at the last of `looks`.
    """

    events: float
    rate: float
    looks: int
    first_share: float
    last_share: float

    def share_at(self, look: int) -> float:
        """Return new's share of the events at a look, from 1."""
        if self.looks == 1:
            return self.first_share
        gone = (look - 1) / (self.looks - 1)
        return self.first_share + gone * (self.last_share - self.first_share)

    def with_events(self, events: float) -> PlannedTraffic:
        """Return it with more or fewer events."""
        return replace(self, events=events)

    def with_looks(self, looks: int) -> PlannedTraffic:
        """Return it over another time."""
        return replace(self, looks=looks)


@dataclass(frozen=True, slots=True)
class Draws:
    """One side's events of a look: bad ones, and the others."""

    bad: tuple[int, tuple[float, ...]]
    good: tuple[int, tuple[float, ...]]

    @classmethod
    def of(cls, events: float, rate: float) -> Draws:
        """Return the draws of so many events on average, of which a share is bad."""
        return cls(_poisson(events * rate), _poisson(events * (1 - rate)))

    def draw(self, uniform: Uniform) -> tuple[int, int]:
        """Return the bad events and all of them."""
        least, table = self.bad
        bad = least + bisect(table, uniform())
        least, table = self.good
        return bad, bad + least + bisect(table, uniform())


def draws_of(traffic: PlannedTraffic, ratio: float) -> list[tuple[Draws, Draws]]:
    """Return what new and old draw at each look, where new's rate is `ratio` times old's."""
    shares = [traffic.share_at(look) for look in range(1, traffic.looks + 1)]
    sides = {
        share: (
            Draws.of(traffic.events * share, min(1.0, traffic.rate * ratio)),
            Draws.of(traffic.events * (1 - share), traffic.rate),
        )
        for share in dict.fromkeys(shares)
    }
    return [sides[share] for share in shares]


@lru_cache(maxsize=2048)
def _poisson(mean: float) -> tuple[int, tuple[float, ...]]:
    """Return the least count of a table, and how probable it is to be at most that one, and so on.

    The last count has no entry: it is what remains.
    """
    if mean <= 0:
        return 0, ()
    if mean >= _HARDLY_VARIES:
        return round(mean), ()
    spread = _REACH * math.sqrt(mean) + _REACH
    least, most = max(0, math.floor(mean - spread)), math.ceil(mean + spread)
    chance = math.exp(least * math.log(mean) - mean - math.lgamma(least + 1))
    table, total = [], 0.0
    for count in range(least, most):
        total += chance
        table.append(total)
        chance *= mean / (count + 1)
    return least, tuple(table)
