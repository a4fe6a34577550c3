"""What two versions counted, tick by tick: bad ones of all, and how unevenly they came."""

from __future__ import annotations

import enum
from dataclasses import field, replace
from typing import Final

from gate.core.frozen import dataclass
from gate.core.statistics.chi_squared import chi_squared_quantile
from gate.core.statistics.ratio_likelihoods import NO_LIKELIHOODS, RatioLikelihoods
from gate.core.statistics.stratified_odds import NO_STRATA, StratifiedOdds

_UNEVEN: Final = 0.9
"""Ticks are uneven if their spread is beyond this quantile of independent counts."""
_FAR: Final = 0.2
"""So far apart ratios by ticks and by sums are hardly by chance."""
_CAUTIOUS: Final = 0.1
"""Then the spread counts for as much as this quantile allows."""


@dataclass(frozen=True, slots=True)
class CountTick:
    """The increases of one tick: bad ones and all, of the new version and of the old one.

    They came within `seconds`.
    """

    bad_new: float
    total_new: float
    bad_old: float
    total_old: float
    seconds: float = 0.0

    @property
    def new(self) -> tuple[float, float]:
        """Bad events and all of the new version, of which there are no fewer."""
        return self.bad_new, max(self.bad_new, self.total_new)

    @property
    def old(self) -> tuple[float, float]:
        """The same of the old version."""
        return self.bad_old, max(self.bad_old, self.total_old)

    @property
    def has_events(self) -> bool:
        """Whether either version had a request."""
        (_, new), (_, old) = self.new, self.old
        return bool(new or old)

    def plus(self, later: CountTick) -> CountTick:
        """Return both ticks as one."""
        return CountTick(
            self.bad_new + later.bad_new,
            self.total_new + later.total_new,
            self.bad_old + later.bad_old,
            self.total_old + later.total_old,
            self.seconds + later.seconds,
        )


NO_EVENTS: Final = CountTick(0.0, 0.0, 0.0, 0.0)


class Awaited(enum.Enum):
    """Whose next events reach back over a time that is not compared: a version's, or both's."""

    NONE = enum.auto()
    NEW = enum.auto()
    OLD = enum.auto()
    BOTH = enum.auto()

    def after(self, *, sees_new: bool, sees_old: bool) -> Awaited:
        """Return what is still awaited after a tick that sees these versions."""
        awaits_new = self in (Awaited.NEW, Awaited.BOTH) and not sees_new
        awaits_old = self in (Awaited.OLD, Awaited.BOTH) and not sees_old
        if awaits_new:
            return Awaited.BOTH if awaits_old else Awaited.NEW
        return Awaited.OLD if awaits_old else Awaited.NONE


@dataclass(frozen=True, slots=True)
class WaitingTicks:
    """Ticks in a row that one version alone has been seen in, as one; at most `most` are joined.

    Looks between two scrapes see the one version now and the other later. What waits longer for
    the other version is dropped: rates change with time, for both versions. Dropped with it is the
    tick that first sees the other one again, since that has counted all the while. When ticks are
    joined depends on all events alone, never on the bad ones, so that what holds of a tick does of
    these.
    """

    most: int = 1
    ticks: int = 0
    seen: CountTick = NO_EVENTS
    awaited: Awaited = Awaited.NONE

    @classmethod
    def begin(cls, most: int) -> WaitingTicks:
        """Begin where a version that serves first waits for the other as long as it takes."""
        return cls(most, ticks=most)

    def plus(self, tick: CountTick) -> tuple[WaitingTicks, CountTick | None]:
        """Return what waits after one tick more, and the joined tick once it has both versions."""
        if self.awaited is not Awaited.NONE:
            (_, new), (_, old) = tick.new, tick.old
            awaited = self.awaited.after(sees_new=new > 0, sees_old=old > 0)
            return WaitingTicks(self.most, awaited=awaited), None
        seen = self.seen.plus(tick)
        (_, new), (_, old) = seen.new, seen.old
        if new and old:
            return WaitingTicks(self.most), seen
        if not (new or old):
            return self, None
        if self.ticks + 1 >= self.most:
            return replace(self, awaited=Awaited.OLD if new else Awaited.NEW), None
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
    """The sums of both versions.

    `weighed_new` and `weighed_old` are the bad ones of each version, each tick's weighed by the
    other's part of its events: their quotient is the ratio of the rates by Mantel and Haenszel
    1959. `seconds` is the time in which all of them came.
    """

    new: SideCounts = field(default_factory=SideCounts)
    old: SideCounts = field(default_factory=SideCounts)
    weighed_new: float = 0.0
    weighed_old: float = 0.0
    seconds: float = 0.0

    def plus(self, tick: CountTick) -> BothCounts:
        """Return the sums with one tick more, which has events of both."""
        (bad_new, new), (bad_old, old) = tick.new, tick.old
        return BothCounts(
            self.new.plus(tick.bad_new, tick.total_new),
            self.old.plus(tick.bad_old, tick.total_old),
            self.weighed_new + bad_new * old / (new + old),
            self.weighed_old + bad_old * new / (new + old),
            self.seconds + tick.seconds,
        )

    @property
    def ticks(self) -> int:
        """How many ticks each version had events in, at least."""
        return min(self.new.ticks, self.old.ticks)

    @property
    def ratio(self) -> float | None:
        """The new rate by the old one; None without a rate of old, or an event of new.

        It is the ratio tick by tick where the sums mislead.
        """
        if not self.old.rate or not self.new.total:
            return None
        if self.sums_mislead:
            return self.weighed_new / self.weighed_old
        return self.new.rate / self.old.rate

    @property
    def sums_mislead(self) -> bool:
        """Whether the ratio by the sums is far from the one tick by tick, as if traffic moved."""
        if not self.new.bad or not self.weighed_old:
            return False
        by_ticks = self.weighed_new / self.weighed_old
        return abs(by_ticks / (self.new.rate / self.old.rate) - 1) > _FAR

    @property
    def dispersion(self) -> float:
        """By how much the counts of both vary more than independent events."""
        return dispersion_of(self.new, self.old)


@dataclass(frozen=True, slots=True)
class CountEvidence:
    """All ticks of a phase as sums.

    `likelihoods` are kept for phases of unknown length, `strata` for those of known length, both of
    joined ticks, and `compared` are the sums of these: what one version served alone, before the
    other came or after it went, says nothing of their ratio.
    """

    new: SideCounts = field(default_factory=SideCounts)
    old: SideCounts = field(default_factory=SideCounts)
    ticks: int = 0
    likelihoods: RatioLikelihoods = NO_LIKELIHOODS
    strata: StratifiedOdds = NO_STRATA
    waiting: WaitingTicks = field(default_factory=WaitingTicks)
    compared: BothCounts = field(default_factory=BothCounts)

    def after_break(self) -> CountEvidence:
        """Return the evidence after a time that no tick looked into: that is not compared."""
        return replace(self, waiting=WaitingTicks(self.waiting.most, awaited=Awaited.BOTH))

    def plus(self, tick: CountTick) -> CountEvidence:
        """Return the evidence with one tick more."""
        waiting, both = self.waiting.plus(tick)
        after = replace(
            self,
            new=self.new.plus(tick.bad_new, tick.total_new),
            old=self.old.plus(tick.bad_old, tick.total_old),
            ticks=self.ticks + 1,
            waiting=waiting,
        )
        if both is None:
            return after
        return replace(
            after,
            likelihoods=self.likelihoods.plus(both.new, both.old),
            strata=self.strata.plus(both.new, both.old),
            compared=self.compared.plus(both),
        )


def dispersion_of(*sides: SideCounts) -> float:
    """Return by how much the counts of all ticks vary more than independent events, at least 1.

    Events in bursts are worth fewer independent ones: counts are divided by it.
    """
    degrees = sum(max(0, side.ticks - 1) for side in sides)
    if not degrees:
        return 1.0
    spread = sum(side.unevenness for side in sides)
    if spread <= chi_squared_quantile(_UNEVEN, degrees):
        return 1.0
    return max(1.0, spread / chi_squared_quantile(_CAUTIOUS, degrees))
