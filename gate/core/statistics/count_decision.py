"""New against old by counts, valid at every look: worse, not harmful, or undecided.

In a phase whose length is known, the totals are compared exactly, given their sum (a binomial
share): at each look at a fraction of alpha, at the end at all of it (Haybittle 1971, Peto 1976).
Where traffic moved meanwhile, the shares of each tick count. In one of unknown length it is an
e-process.
"""

from __future__ import annotations

import enum
import math
from typing import Final, Protocol

from gate.core.frozen import dataclass
from gate.core.statistics.count_evidence import (
    BothCounts,
    CountEvidence,
    SideCounts,
    WaitingTicks,
    dispersion_of,
)
from gate.core.statistics.incomplete_beta import beta_probability
from gate.core.statistics.ratio_likelihoods import Likelihoods, RatioLikelihoods
from gate.core.statistics.stratified_odds import StratifiedOdds

LEAST_TICKS: Final = 9
"""Before a version had requests at so many ticks, nothing is decided about it: only they show
whether its events burst, or were those of a cold start."""
EARLY_SHARE: Final = 2 / 15
"""Of alpha, at each look before the end of a phase of known length."""
PASS_ALPHA: Final = 0.001
"""At each look, in a phase of known length."""
PASS_ALPHA_AT_ANY_TIME: Final = 0.01
"""Over all looks together, in a phase of unknown length."""
NEGLIGIBLE_ALPHA: Final = 0.01
"""At the end; a tenth of it at each look before."""
NEGLIGIBLE_EARLY_SHARE: Final = 0.1


class End(enum.StrEnum):
    """What counts say of a new version."""

    WORSE = "worse"
    NOT_HARMFUL = "not-harmful"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class CountRule:
    """What is worse, and what is not harmful, as ratios of the two rates of bad events.

    Worse is beyond `1 + tolerance` and by more than `min_delta`; not harmful is below `harm`, or a
    rate below `negligible`. `alpha` is divided by `split`, the number of checks that compare.
    """

    tolerance: float = 0.25
    harm: float = 2.0
    negligible: float = 0.001
    min_delta: float = 0.0
    alpha: float = 0.03
    split: int = 1
    known_length: bool = False

    @property
    def tolerated(self) -> float:
        """The ratio of rates that is tolerated."""
        return 1 + self.tolerance

    def alpha_now(self, *, at_the_end: bool) -> float:
        """Return this check's part of alpha for one look."""
        early = self.known_length and not at_the_end
        return self.alpha / self.split * (EARLY_SHARE if early else 1.0)

    def begin(self, most_joined: int = 1) -> CountEvidence:
        """Return the evidence before the first tick, of which so many are joined at most."""
        waiting = WaitingTicks.begin(most_joined)
        if self.known_length:
            return CountEvidence(
                strata=StratifiedOdds.about(self.tolerated, self.harm), waiting=waiting
            )
        likelihoods = RatioLikelihoods.about(self.tolerated, self.harm)
        return CountEvidence(likelihoods=likelihoods, waiting=waiting)


class Evidence(Protocol):
    """What a decision goes by: what the new version counted, and both while both served."""

    @property
    def new(self) -> SideCounts:
        """All that the new version counted."""

    @property
    def compared(self) -> BothCounts:
        """What both counted in ticks that saw both."""

    @property
    def likelihoods(self) -> Likelihoods:
        """The evidence for a phase of unknown length."""

    @property
    def strata(self) -> StratifiedOdds:
        """The shares of bad events for a phase of known length."""


def judge(rule: CountRule, evidence: Evidence, *, at_the_end: bool = False) -> End:
    """Judge all ticks so far; `at_the_end` if there will be no more."""
    if evidence.new.ticks < LEAST_TICKS:
        return End.UNDECIDED
    is_comparable = evidence.compared.ticks >= LEAST_TICKS
    if is_comparable and is_worse(rule, evidence, at_the_end=at_the_end):
        return End.WORSE
    if is_negligible(rule, evidence, at_the_end=at_the_end):
        return End.NOT_HARMFUL
    if is_comparable and _is_below_harm(rule, evidence):
        return End.NOT_HARMFUL
    return End.UNDECIDED


def is_worse(rule: CountRule, evidence: Evidence, *, at_the_end: bool) -> bool:
    """Tell whether the new rate is shown to be beyond what is tolerated."""
    compared = evidence.compared
    new, old = compared.new, compared.old
    if not new.bad or not old.total or is_within_min_delta(rule, compared):
        return False
    spread, alpha = compared.dispersion, rule.alpha_now(at_the_end=at_the_end)
    if not rule.known_length:
        known = evidence.likelihoods
        return known.log_evidence_above(rule.tolerated, dispersion=spread) >= -math.log(alpha)
    _, odds = odds_of_bad(evidence, rule.tolerated)
    return exact_tail(odds, new.bad / spread, old.bad / spread) <= alpha


def odds_of_bad(evidence: Evidence, ratio: float) -> tuple[float, float]:
    """Return new's odds of a bad event at a ratio of the rates, the least and the greatest.

    They differ where traffic moved: each end goes by those that speak less for it.
    """
    compared = evidence.compared
    return evidence.strata.odds(ratio, ratio * compared.new.total / compared.old.total)


def is_within_min_delta(rule: CountRule, compared: BothCounts) -> bool:
    """Tell whether the new rate is no more above the old one than a rule lets run on."""
    return compared.new.rate - compared.old.rate <= rule.min_delta


def exact_tail(odds: float, bad_new: float, bad_old: float) -> float:
    """Return how likely new has that many of all bad events, at these odds of having each."""
    return beta_probability(bad_new, bad_old + 1, odds / (1 + odds))


def _is_below_harm(rule: CountRule, evidence: Evidence) -> bool:
    new, old = evidence.compared.new, evidence.compared.old
    if not old.bad or not new.total:
        return False
    spread = evidence.compared.dispersion
    if not rule.known_length:
        below = evidence.likelihoods.log_evidence_below(rule.harm, dispersion=spread)
        return below >= -math.log(PASS_ALPHA_AT_ANY_TIME)
    odds, _ = odds_of_bad(evidence, rule.harm)
    return beta_probability(old.bad / spread, new.bad / spread + 1, 1 / (1 + odds)) <= PASS_ALPHA


def is_negligible(rule: CountRule, evidence: Evidence, *, at_the_end: bool) -> bool:
    """Tell whether the new rate is shown to be below what matters to anybody."""
    new = evidence.new
    spread = dispersion_of(new)
    if not rule.negligible or new.total <= new.bad:
        return False
    good, bad = (new.total - new.bad) / spread, new.bad / spread
    alpha = NEGLIGIBLE_ALPHA * (1.0 if at_the_end else NEGLIGIBLE_EARLY_SHARE)
    return beta_probability(good, bad + 1, 1 - rule.negligible) <= alpha
