"""Times as objects carry them, and how far they are from now."""

from __future__ import annotations

from datetime import datetime

from sandbox.times import Timers


class Moments:
    """The wall clock of the controllers: whole seconds in objects, fractions to compare with."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._started_at = since_epoch(timers.wall(fraction=True)) - timers.now()

    def stamp(self) -> str:
        """Return now as objects carry it."""
        return self._timers.wall()

    def now(self) -> float:
        """Return now in seconds since the epoch."""
        return self._started_at + self._timers.now()

    def seconds_until(self, stamp: str, seconds: float = 0.0) -> float:
        """Return how long it is from now until `seconds` after a time; negative where passed."""
        return since_epoch(stamp) + seconds - self.now()


def since_epoch(stamp: str) -> float:
    """Return an RFC 3339 time in seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()
