"""Real time for the sandbox: what is due is run when its moment comes, N times as fast if asked."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from sandbox.times import Timers

LONGEST_SLEEP_SECONDS = 3600.0


class Pacer:
    """Moves `timers` along with the loop's clock; `speed` sandbox seconds pass in one second."""

    def __init__(self, timers: Timers, speed: float, clock: Callable[[], float]) -> None:
        """`clock` gives monotonic seconds; the sandbox's time goes on from where it stands."""
        self._timers = timers
        self._speed = speed
        self._clock = clock
        self._started_at = clock()
        self._offset = timers.now()
        self._changed = asyncio.Event()

    def now(self) -> float:
        """Return what the sandbox's time is by the clock."""
        return self._offset + (self._clock() - self._started_at) * self._speed

    def catch_up(self) -> None:
        """Run what is due by now: a request sees the cluster of its moment."""
        self._timers.run_due(self.now())

    def wake(self) -> None:
        """Look again at what is due next: something may have been asked for since."""
        self._changed.set()

    async def run(self) -> None:
        """Run what is due, each at its time, until cancelled."""
        while True:
            self._changed.clear()
            self.catch_up()
            try:
                await asyncio.wait_for(self._changed.wait(), self._pause())
            except TimeoutError:
                continue

    def _pause(self) -> float:
        due = self._timers.due_at()
        if math.isinf(due):
            return LONGEST_SLEEP_SECONDS
        seconds = (due - self.now()) / self._speed
        return min(max(0.0, seconds), LONGEST_SLEEP_SECONDS)
