"""The time within which the increases that a look finds have come."""

from __future__ import annotations

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class LookTimes:
    """When counters of either version were last read, and when they were last seen to move (s)."""

    read_at: float = 0.0
    moved_at: float = 0.0

    def after(self, at: float, *, reads: bool, moves: bool) -> LookTimes:
        """Return the times after a look that reads counters, and finds that they have moved."""
        return LookTimes(at if reads else self.read_at, at if moves else self.moved_at)

    def span_until(self, at: float, most_still_seconds: float) -> float:
        """Return the seconds within which the increases that a look at `at` finds have come.

        Counters that stood still for longer than `most_still_seconds` had nothing to count.
        """
        still = self.read_at - self.moved_at
        return at - self.read_at + (still if still <= most_still_seconds else 0.0)
