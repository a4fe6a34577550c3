"""One simulated rollout as evidence for the gate's own decision, and when to ask for that.

Most looks are far from any decision, and a bound that is cheap to compute shows it: of a binomial
tail by its deviance (Zubkov and Serov, "A complete proof of universal inequalities for the
distribution function of the binomial law", 2012), of a mean of likelihood ratios by the largest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from gate.core.frozen import dataclass
from gate.core.statistics.chi_squared import chi_squared_quantile
from gate.core.statistics.count_decision import (
    NEGLIGIBLE_ALPHA,
    PASS_ALPHA,
    PASS_ALPHA_AT_ANY_TIME,
    CountRule,
)
from gate.core.statistics.count_evidence import BothCounts, SideCounts
from gate.core.statistics.ratio_likelihoods import ALTERNATIVES, STEP, log_mean
from gate.core.statistics.stratified_odds import NO_STRATA, StratifiedOdds

_SLACK: Final = 0.9
"""The bound is proven for whole counts, and those of bursts are divided."""


@dataclass(slots=True)
class Side:
    """One version's sums, which grow."""

    bad: int = 0
    total: int = 0
    squares: float = 0.0
    ticks: int = 0

    def add(self, bad: int, total: int) -> None:
        """Add a look; one without events says nothing."""
        if total:
            self.bad += bad
            self.total += total
            self.squares += bad * bad / total
            self.ticks += 1

    def counts(self) -> SideCounts:
        """Return the sums as the decision takes them."""
        return SideCounts(self.bad, self.total, self.squares, self.ticks)


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The ratios beyond an anchor, by their steps from it, and what an event costs each of them.

    `costs` are by look: how much less likely an event of either side is under that ratio.
    """

    steps: Sequence[float]
    costs: Sequence[Sequence[float]]

    @classmethod
    def beyond(cls, anchor: float, direction: int, odds: Sequence[float]) -> Alternatives:
        """Return those above the anchor (1) or below it (-1), at new's odds of each look."""
        steps = [direction * number * STEP for number in range(1, ALTERNATIVES + 1)]
        costs = {
            one: [
                math.log1p(anchor * math.exp(step) * one) - math.log1p(anchor * one)
                for step in steps
            ]
            for one in dict.fromkeys(odds)
        }
        return cls(steps, [costs[one] for one in odds])


@dataclass(slots=True)
class SimulatedRollout:
    """What both versions have counted, looks in, evidence out (`count_decision.Evidence`).

    `above` and `below` are None where the phase's length is known. The likelihoods are those of the
    planned shares of traffic, which are hardly others than those that come about.
    """

    above: Alternatives | None = None
    below: Alternatives | None = None
    new_side: Side = field(default_factory=Side)
    old_side: Side = field(default_factory=Side)
    ticks: int = 0
    spent_above: list[float] = field(default_factory=lambda: [0.0] * ALTERNATIVES)
    spent_below: list[float] = field(default_factory=lambda: [0.0] * ALTERNATIVES)

    def add(self, new: tuple[int, int], old: tuple[int, int]) -> None:
        """Add a look: bad events and all, of each side."""
        (bad_new, total_new), (bad_old, total_old) = new, old
        self.new_side.add(bad_new, total_new)
        self.old_side.add(bad_old, total_old)
        events = bad_new + bad_old
        if self.above is not None and self.below is not None and events:
            self.spent_above = _spend(self.spent_above, events, self.above.costs[self.ticks])
            self.spent_below = _spend(self.spent_below, events, self.below.costs[self.ticks])
        self.ticks += 1

    @property
    def new(self) -> SideCounts:
        """What the new version counted."""
        return self.new_side.counts()

    @property
    def compared(self) -> BothCounts:
        """What both counted; each look is taken to see both."""
        return BothCounts(self.new, self.old_side.counts())

    @property
    def likelihoods(self) -> SimulatedRollout:
        """The evidence for a phase of unknown length."""
        return self

    @property
    def strata(self) -> StratifiedOdds:
        """None: the rates are taken to stay as they are, so that sums and looks say the same."""
        return NO_STRATA

    def logs_above(self) -> list[float]:
        """Return the log-likelihood ratio of each alternative above what is tolerated."""
        return [] if self.above is None else self._logs(self.above, self.spent_above)

    def logs_below(self) -> list[float]:
        """Return the same of those below what is harmful."""
        return [] if self.below is None else self._logs(self.below, self.spent_below)

    def _logs(self, of: Alternatives, spent: list[float]) -> list[float]:
        bad = self.new_side.bad
        return [bad * step - cost for step, cost in zip(of.steps, spent, strict=True)]

    def log_evidence_above(self, anchor: float, steps: int = 0, dispersion: float = 1.0) -> float:  # noqa: ARG002 - there is one anchor
        """Return the evidence that the true ratio is above what is tolerated."""
        return log_mean([one / dispersion for one in self.logs_above()])

    def log_evidence_below(self, anchor: float, steps: int = 0, dispersion: float = 1.0) -> float:  # noqa: ARG002
        """Return the evidence that it is below what is harmful."""
        return log_mean([one / dispersion for one in self.logs_below()])


def _spend(spent: list[float], events: int, costs: Sequence[float]) -> list[float]:
    return [before + events * cost for before, cost in zip(spent, costs, strict=True)]


@dataclass(frozen=True, slots=True)
class DecisionBounds:
    """What a rollout's sums have to reach before a decision is possible at all.

    Each is half of a squared deviation, or the logarithm of a likelihood ratio.
    """

    rule: CountRule
    early: float
    last: float
    passing: float
    negligible: float

    @classmethod
    def of(cls, rule: CountRule) -> DecisionBounds:
        """Return the bounds of a rule."""
        passing = PASS_ALPHA if rule.known_length else PASS_ALPHA_AT_ANY_TIME
        return cls(
            rule,
            _find_bound(rule, rule.alpha_now(at_the_end=False)),
            _find_bound(rule, rule.alpha_now(at_the_end=True)),
            _find_bound(rule, passing),
            _half_square(NEGLIGIBLE_ALPHA),
        )

    def may_be_worse(self, seen: SimulatedRollout, *, at_the_end: bool) -> bool:
        """Tell whether it is worth asking for a failure."""
        if not seen.new_side.bad:
            return False
        least = self.last if at_the_end else self.early
        if not self.rule.known_length:
            return max(seen.logs_above()) >= least
        new, old = seen.new_side, seen.old_side
        odds = self.rule.tolerated * new.total / old.total if old.total else 0.0
        return odds > 0 and _excess(new.bad, old.bad, odds) >= least

    def may_not_be_harmful(self, seen: SimulatedRollout) -> bool:
        """Tell whether it is worth asking for a pass."""
        new, old = seen.new_side, seen.old_side
        rate = self.rule.negligible
        good = new.total - new.bad
        if rate and good and _excess(good, new.bad, (1 - rate) / rate) >= self.negligible:
            return True
        if not old.bad or not new.total:
            return False
        if not self.rule.known_length:
            return max(seen.logs_below()) >= self.passing
        odds = self.rule.harm * new.total / old.total
        return _excess(old.bad, new.bad, 1 / odds) >= self.passing


def _find_bound(rule: CountRule, alpha: float) -> float:
    return _half_square(alpha) if rule.known_length else -math.log(alpha)


def _half_square(alpha: float) -> float:
    """Return half of the squared normal quantile of a one-sided alpha below a half."""
    return _SLACK * chi_squared_quantile(1 - 2 * alpha, 1) / 2


def _excess(mine: float, theirs: float, odds: float) -> float:
    """Return the deviance of having so many of all, at these odds; 0 if they are not too many."""
    events = mine + theirs
    expected = events * odds / (1 + odds)
    if mine <= expected:
        return 0.0
    rest = theirs * math.log(theirs / (events - expected)) if theirs else 0.0
    return mine * math.log(mine / expected) + rest
