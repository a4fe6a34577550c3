"""Plays a cell, and measures it; with an error planted, to show that the bounds find it."""

from __future__ import annotations

import enum
import zlib
from dataclasses import dataclass, replace

import numpy as np

from gate.core.statistics.count_decision import EARLY_SHARE
from tests.statistics.cells import Cell
from tests.statistics.decisions import NEVER, Ends, decide
from tests.statistics.scrapes import read_counters
from tests.statistics.traffic import TICK_SECONDS, Counts, Numbers, draw

RUNS = 2000
_TICKS_A_WINDOW = 6


class Plant(enum.StrEnum):
    """An error that the bounds have to find."""

    OVERLAP = "overlap"
    NO_SPLIT = "no-split"
    NO_LOOKS = "no-looks"
    NO_BIRTHS = "no-births"


ABOUT = {
    Plant.OVERLAP: "each tick counts the last minute, so that windows overlap",
    Plant.NO_SPLIT: "several checks do not share alpha",
    Plant.NO_LOOKS: "each look takes all of alpha",
    Plant.NO_BIRTHS: "what a new series had counted when it was first seen is lost",
}


@dataclass(frozen=True, slots=True)
class Measures:
    """Shares of rollouts that were failed at any tick, and passed before they were; and how soon.

    `seconds` is the median over all rollouts until one is failed, infinite if fewer than half are;
    `pass_seconds` the same of passes.
    """

    failed: float
    passed: float
    seconds: float
    pass_seconds: float

    def value(self, name: str) -> float:
        """Return the measure of that name."""
        found: float = getattr(self, name)
        return found


def counts_of(cell: Cell, check: int = 0, runs: int = RUNS, plant: Plant | None = None) -> Counts:
    """Return the traffic of a cell, which its name and the number of its check seed."""
    source = np.random.default_rng([zlib.crc32(cell.name.encode()), check])
    counts = draw(cell.traffic, runs, source)
    if cell.scrapes is not None:
        drops = plant is Plant.NO_BIRTHS
        counts = read_counters(counts, cell.scrapes, source, drops_births=drops)
    if plant is Plant.OVERLAP:
        sides = (counts.bad_new, counts.total_new, counts.bad_old, counts.total_old)
        counts = Counts(*map(_overlapping, sides))
    return counts


def _overlapping(side: Numbers) -> Numbers:
    sums = np.cumsum(side, axis=1)
    sums[:, _TICKS_A_WINDOW:] -= sums[:, :-_TICKS_A_WINDOW].copy()
    return sums


def ends_of(cell: Cell, runs: int = RUNS, plant: Plant | None = None) -> Ends:
    """Return when each rollout of a cell is decided, by the first of its checks."""
    rule = replace(cell.own_rule, split=1) if plant is Plant.NO_SPLIT else cell.own_rule
    share = 1.0 if plant is Plant.NO_LOOKS else EARLY_SHARE
    found = [
        decide(rule, counts_of(cell, check, runs, plant), share) for check in range(cell.checks)
    ]
    worse = np.min([each.worse for each in found], axis=0)
    return Ends(worse, np.max([each.harmless for each in found], axis=0))


def measure(cell: Cell, runs: int = RUNS, plant: Plant | None = None) -> Measures:
    """Play a cell, and measure it."""
    ends = ends_of(cell, runs, plant)
    passed = ends.harmless < ends.worse
    return Measures(
        failed=float((ends.worse < NEVER).mean()),
        passed=float(passed.mean()),
        seconds=_median_seconds(ends.worse),
        pass_seconds=_median_seconds(np.where(passed, ends.harmless, NEVER)),
    )


def _median_seconds(ticks: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    median = float(np.median(ticks))
    return float("inf") if median >= NEVER / 2 else median * TICK_SECONDS
