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

    @property
    def new(self) -> tuple[float, float]:
        """Bad events and all of the new version, of which there are no fewer."""
        return self.bad_new, max(self.bad_new, self.total_new)

    @property
    def old(self) -> tuple[float, float]:
        """The same of the old version."""
        return self.bad_old, max(self.bad_old, self.total_old)

    def plus(self, later: CountTick) -> CountTick:
        """Return both ticks as one."""
        return CountTick(
            self.bad_new + later.bad_new,
            self.total_new + later.total_new,
            self.bad_old + later.bad_old,
            self.total_old + later.total_old,
        )


NO_EVENTS: Final = CountTick(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class WaitingTicks:
    """Ticks in a row that one version alone has been seen in, as one; at most `most` are joined.

    Looks between two scrapes see the one version now and the other later. What waits longer for
    the other version is dropped: rates change with time, for both versions. When ticks are joined
    depends on all events alone, never on the bad ones, so that what holds of a tick does of these.
    """

    most: int = 1
    ticks: int = 0
    seen: CountTick = NO_EVENTS

    def plus(self, tick: CountTick) -> tuple[WaitingTicks, CountTick | None]:
        """Return what waits after one tick more, and the joined tick once it has both versions."""
        seen = self.seen.plus(tick)
        (_, new), (_, old) = seen.new, seen.old
        if new and old:
            return WaitingTicks(self.most), seen
        if not (new or old) or self.ticks + 1 >= self.most:
            return WaitingTicks(self.most), None
        return WaitingTicks(self.most, self.ticks + 1, seen), None


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
class BothCounts:
    """The sums of both versions."""

    new: SideCounts = field(default_factory=SideCounts)
    old: SideCounts = field(default_factory=SideCounts)

    def plus(self, tick: CountTick) -> BothCounts:
        """Return the sums with one tick more."""
        return BothCounts(
            self.new.plus(tick.bad_new, tick.total_new), self.old.plus(tick.bad_old, tick.total_old)
        )

    @property
    def ticks(self) -> int:
        """How many ticks each version had events in, at least."""
        return min(self.new.ticks, self.old.ticks)

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


@dataclass(frozen=True, slots=True)
class CountEvidence:
    """All ticks of a phase as sums; `likelihoods` are kept for phases of unknown length.

    `compared` are the sums of joined ticks, which `likelihoods` are of: what one version served
    alone, before the other came or after it went, says nothing of their ratio.
    """

    new: SideCounts = field(default_factory=SideCounts)
    old: SideCounts = field(default_factory=SideCounts)
    ticks: int = 0
    likelihoods: RatioLikelihoods = NO_LIKELIHOODS
    waiting: WaitingTicks = field(default_factory=WaitingTicks)
    compared: BothCounts = field(default_factory=BothCounts)

    def plus(self, tick: CountTick) -> CountEvidence:
        """Return the evidence with one tick more.

        Where one version served first, that in which the other is first seen reaches back to when
        it was alone.
        """
        waiting, both = WaitingTicks(self.waiting.most), None
        if bool(self.new.ticks) == bool(self.old.ticks):
            waiting, both = self.waiting.plus(tick)
        known = self.likelihoods
        return replace(
            self,
            new=self.new.plus(tick.bad_new, tick.total_new),
            old=self.old.plus(tick.bad_old, tick.total_old),
            ticks=self.ticks + 1,
            likelihoods=known if both is None else known.plus(both.new, both.old),
            waiting=waiting,
            compared=self.compared if both is None else self.compared.plus(both),
        )

    @property
    def dispersion(self) -> float:
        """By how much the counts of all ticks vary more than independent events."""
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
