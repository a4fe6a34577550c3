"""Virtual time that people can follow: each jump of the clock takes a share of its seconds."""

from __future__ import annotations

from gate.clock import Clock
from gate.virtual_time import Schedule


class Paced:
    """A schedule that also lets real time pass: one second of `clock` for `speed` of its own."""

    def __init__(self, schedule: Schedule, clock: Clock, speed: float) -> None:
        self._schedule = schedule
        self._clock = clock
        self._speed = speed
        self._now = 0.0

    def due_at(self) -> float:
        """Return when the next thing is due."""
        return self._schedule.due_at()

    def run_due(self, now: float) -> None:
        """Wait the real time that this takes, then run what is due."""
        self._clock.wait((now - self._now) / self._speed)
        self._now = now
        self._schedule.run_due(now)
