"""New's share of the bad events, tick by tick, for phases in which traffic may move.

Sums over a phase mislead where one version gets more of the traffic while both rates change
(Simpson 1951). Of the bad events of one tick, new has the share `r E1 / (E0 + r E1)` where its rate
is `r` times the old one's, whatever the rates were then. What it has of all of them varies no more
than a binomial count with the mean of these shares (Hoeffding 1956, "On the distribution of the
number of successes in independent trials").
"""

from __future__ import annotations

from typing import Final

from gate.core.frozen import dataclass

_HARDLY_MOVED: Final = 0.03
"""By so much odds by ticks and by sums differ by chance alone, of counts that tell something."""


@dataclass(frozen=True, slots=True)
class StratifiedOdds:
    """How many of all bad events new would have, for each of some ratios of the rates.

    `expected` are the sums over the ticks, one for each of `ratios`.
    """

    ratios: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()
    bad: float = 0.0

    @classmethod
    def about(cls, *ratios: float) -> StratifiedOdds:
        """Begin without ticks."""
        return cls(ratios, (0.0,) * len(ratios))

    def plus(self, new: tuple[float, float], old: tuple[float, float]) -> StratifiedOdds:
        """Add a tick in which both sides had events: bad ones and all, of each."""
        (bad_new, total_new), (bad_old, total_old) = new, old
        bad = bad_new + bad_old
        if not self.ratios or not bad:
            return self
        odds = total_new / total_old
        shares = (ratio * odds / (1 + ratio * odds) for ratio in self.ratios)
        expected = tuple(
            known + bad * share for known, share in zip(self.expected, shares, strict=True)
        )
        return StratifiedOdds(self.ratios, expected, self.bad + bad)

    def odds(self, ratio: float, by_sums: float) -> tuple[float, float]:
        """Return the least and the greatest odds of new for a bad event, by ticks and by sums.

        Both are `by_sums` where ticks say the same, or where the ratio is none of those known.
        """
        if ratio not in self.ratios or not self.bad:
            return by_sums, by_sums
        share = self.expected[self.ratios.index(ratio)] / self.bad
        by_ticks = share / (1 - share)
        if abs(by_ticks / by_sums - 1) < _HARDLY_MOVED:
            return by_sums, by_sums
        return min(by_ticks, by_sums), max(by_ticks, by_sums)


NO_STRATA: Final = StratifiedOdds()
