"""New against old: by ratio at one tick, or by a Mann-Whitney test over a phase's samples."""

from __future__ import annotations

import math
from typing import Final

from gate.core.frozen import dataclass
from gate.core.statistics.mann_whitney import probability_of_larger, shift

LEAST_SAMPLES: Final = 8
"""The fewest samples of a side: below this, no test at a small alpha can reject."""
MOST_SAMPLES: Final = 400
"""Kept of a side, the latest: an hour at 10 s; the shift sorts the differences of all pairs."""
INTERIM_SHARE: Final = 0.05
"""Before the end only a probability below this share of alpha fails (Haybittle and Peto): a test
that is repeated at every sample would reject by chance far more often than alpha says."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """New fails if above `max_ratio` times old and more than `min_delta` above it (same unit)."""

    max_ratio: float
    min_delta: float = 0.0

    def is_exceeded_by(self, new: float, old: float) -> bool:
        """Tell whether `new` is too large for a finite `old`.

        The ratio applies to old's distance from 0, so that it works below 0 as well; if old is 0,
        `min_delta` alone decides.
        """
        allowed = old + abs(old) * (self.max_ratio - 1)
        return new > allowed and new - old > self.min_delta


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """New may not be larger than old, by a one-sided test at `alpha` and by the size of the shift.

    `tolerance` is the tolerated shift, as a share of the baseline's median.
    """

    alpha: float = 0.02
    tolerance: float = 0.25


@dataclass(frozen=True, slots=True)
class Pairs:
    """The samples of both sides, taken at the same ticks; finite numbers.

    `at` is when the windows of the latest pair ended, monotonic seconds; -inf before the first.
    """

    new: tuple[float, ...] = ()
    old: tuple[float, ...] = ()
    at: float = -math.inf

    def __len__(self) -> int:
        """Count the samples of a side."""
        return len(self.new)

    def plus(self, new: float, old: float, at: float = -math.inf) -> Pairs:
        """Return the pairs with one more, without the oldest if there are too many."""
        return Pairs((*self.new, new)[-MOST_SAMPLES:], (*self.old, old)[-MOST_SAMPLES:], at)


NO_PAIRS: Final = Pairs()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the test says of some pairs: how probable by chance, and how far new lies above old.

    `shift` is the Hodges-Lehmann estimate, None if the probability alone acquits.
    """

    probability: float
    shift: float | None
    median: float


def compare(test: MannWhitney, pairs: Pairs) -> Comparison | None:
    """Return what the test says; None below 8 samples a side."""
    if len(pairs) < LEAST_SAMPLES:
        return None
    probability = probability_of_larger(pairs.new, pairs.old)
    moved = shift(pairs.new, pairs.old) if probability < test.alpha else None
    return Comparison(probability, moved, _median(pairs.old))


def _median(values: tuple[float, ...]) -> float:
    ranked = sorted(values)
    middle = len(ranked) // 2
    return (ranked[middle] + ranked[~middle]) / 2


def rejects(test: MannWhitney, found: Comparison, alpha: float) -> bool:
    """Tell whether the new version is larger beyond chance and beyond the tolerance."""
    if found.shift is None or found.probability >= alpha:
        return False
    return found.shift > test.tolerance * abs(found.median)
