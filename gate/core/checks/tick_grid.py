"""The ticks of a check: when it asks."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Tick:
    """One time to ask: `number` counts the grid from 0, `at` is the time that is asked for.

    After an error `at` can lie between two points of the grid.
    """

    number: int
    at: float


@dataclass(frozen=True, slots=True)
class TickGrid:
    """When a check asks: every `interval_seconds` from `starts_at` on, and again after an error.

    `last_number` is that of the latest tick that was asked; `retry_at` is set after an error.
    """

    starts_at: float
    interval_seconds: float
    last_number: int = -1
    retry_at: float = math.inf

    @property
    def next_at(self) -> float:
        """When the next tick is due."""
        return min(self._time_of(self.last_number + 1), self.retry_at)

    def latest(self, now: float) -> Tick:
        """Return the tick that is due at `now`, of several the latest."""
        number = self._number_at(now)
        on_grid = self._time_of(number)
        if number > self.last_number and on_grid <= now:
            return Tick(number, on_grid)
        return Tick(self.last_number, self.retry_at)

    def after_question(self, tick: Tick) -> TickGrid:
        """Return the grid once a tick was asked."""
        return replace(self, last_number=tick.number, retry_at=math.inf)

    def _number_at(self, now: float) -> int:
        """Return the latest point of the grid at or before `now`, whatever the rounding."""
        number = math.floor((now - self.starts_at) / self.interval_seconds)
        return number + 1 if self._time_of(number + 1) <= now else number

    def _time_of(self, number: int) -> float:
        return self.starts_at + number * self.interval_seconds
