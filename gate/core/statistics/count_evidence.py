"""What two versions counted, tick by tick: bad ones of all, and how unevenly they came."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from gate.core.statistics.chi_squared import chi_squared_quantile
from gate.core.statistics.ratio_likelihoods import NO_LIKELIHOODS, RatioLikelihoods

_UNEVEN: Final = 0.9
"""Ticks are uneven if their spread is beyond this quantile of independent counts."""
_CAUTIOUS: Final = 0.1
"""Then the spread counts for as much as this quantile allows."""


@dataclass(frozen=True, slots=True)
class CountTick:
    """The increases of one tick: bad ones and all, of the new version and of the old one."""

    bad_new: float
    total_new: float
    bad_old: float
    total_old: float


@dataclass(frozen=True, slots=True)
class SideCounts:
    """One version's sums: `squares` is the sum of bad^2 / all over its ticks with traffic."""

    bad: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    ticks: int = 0

    def plus(self, bad: float, total: float) -> SideCounts:
        """Return the sums with one tick more; a tick without traffic says nothing."""
        if total <= 0 and bad <= 0:
            return self
        square = bad * bad / max(bad, total)
        return SideCounts(self.bad + bad, self.total + total, self.squares + square, self.ticks + 1)

    @property
    def rate(self) -> float:
        """The share of bad ones, 0 without traffic."""
        return self.bad / self.total if self.total else 0.0

    @property
    def unevenness(self) -> float:
        """Pearson's X^2 of the ticks against one rate for all of them."""
        return max(0.0, self.total / self.bad * self.squares - self.bad) if self.bad else 0.0


@dataclass(frozen=True, slots=True)
class CountEvidence:
    """All ticks of a phase as sums; `likelihoods` are kept for phases of unknown length."""

    new: SideCounts = field(default_factory=SideCounts)
    old: SideCounts = field(default_factory=SideCounts)
    ticks: int = 0
    likelihoods: RatioLikelihoods = NO_LIKELIHOODS

    def plus(self, tick: CountTick) -> CountEvidence:
        """Return the evidence with one tick more."""
        return replace(
            self,
            new=self.new.plus(tick.bad_new, tick.total_new),
            old=self.old.plus(tick.bad_old, tick.total_old),
            ticks=self.ticks + 1,
            likelihoods=self.likelihoods.plus(
                (tick.bad_new, max(tick.bad_new, tick.total_new)),
                (tick.bad_old, max(tick.bad_old, tick.total_old)),
            ),
        )

    @property
    def ratio(self) -> float | None:
        """The new rate by the old one; None without a rate of old, or an event of new."""
        return self.new.rate / self.old.rate if self.old.rate and self.new.total else None

    @property
    def dispersion(self) -> float:
        """By how much the counts of ticks vary more than independent events; 1 if they do not.

        Events in bursts are worth fewer independent ones: counts are divided by it.
        """
        return dispersion_of(self.new, self.old)


def dispersion_of(new: SideCounts, old: SideCounts) -> float:
    """Return the dispersion of both sides' ticks together, at least 1."""
    degrees = max(0, new.ticks - 1) + max(0, old.ticks - 1)
    if not degrees:
        return 1.0
    spread = new.unevenness + old.unevenness
    if spread <= chi_squared_quantile(_UNEVEN, degrees):
        return 1.0
    return max(1.0, spread / chi_squared_quantile(_CAUTIOUS, degrees))
