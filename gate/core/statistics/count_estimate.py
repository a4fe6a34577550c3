"""What counts say in figures: the ratio, its interval, and what this traffic could have shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from gate.core.frozen import dataclass
from gate.core.statistics.count_decision import (
    PASS_ALPHA,
    PASS_ALPHA_AT_ANY_TIME,
    CountRule,
    exact_tail,
    odds_of_bad,
)
from gate.core.statistics.count_evidence import BothCounts, CountEvidence
from gate.core.statistics.incomplete_beta import beta_probability, beta_quantile
from gate.core.statistics.ratio_likelihoods import log_evidence_of_sums

POWER: Final = 0.8
"""A ratio is detectable if it would fail with this probability."""
SOUGHT: Final = 2.0
"""The ratio for which it is said what would find it."""
MOST_RATIO: Final = 100.0
_MOST_TIMES: Final = 100.0
_BISECTIONS: Final = 18


@dataclass(frozen=True, slots=True)
class Estimate:
    """The new rate as a ratio to the old one, and its interval by the same tests that decide.

    `ratio` is None if old has had no bad event; `low` is 0 and `high` infinite where the counts say
    nothing. `detectable` is the least ratio that would have failed four times in five at the end of
    a phase with this traffic, None without events or if not even a hundredfold rate would have, or
    all requests being bad.
    """

    ratio: float | None
    low: float
    high: float
    detectable: float | None


# An attempt asks what its checks conclude at each of its steps.
@lru_cache(maxsize=256)
def estimate(rule: CountRule, evidence: CountEvidence, *, at_the_end: bool = False) -> Estimate:
    """Return the figures after the ticks so far."""
    low, high = find_interval(rule, evidence, at_the_end=at_the_end)
    compared = _Compared.of(evidence.compared)
    found = None if compared is None else _smallest_detectable(rule, compared)
    return Estimate(evidence.compared.ratio, low, high, found)


def find_interval(
    rule: CountRule, evidence: CountEvidence, *, at_the_end: bool = False
) -> tuple[float, float]:
    """Return the ratios that the counts refute from above and from below.

    0 and infinity where no tick saw both versions.
    """
    new, old = evidence.compared.new, evidence.compared.old
    if not new.total or not old.total:
        return 0.0, math.inf
    spread, alpha = evidence.compared.dispersion, rule.alpha_now(at_the_end=at_the_end)
    if not rule.known_length:
        known = evidence.likelihoods
        low = known.lower_end(rule.tolerated, 1 / alpha, spread)
        return low, known.upper_end(rule.harm, 1 / PASS_ALPHA_AT_ANY_TIME, spread)
    bad_new, bad_old = new.bad / spread, old.bad / spread
    least = beta_quantile(bad_new, bad_old + 1, alpha)
    rest = beta_quantile(bad_old, bad_new + 1, PASS_ALPHA)
    _, above = odds_of_bad(evidence, rule.tolerated)
    below, _ = odds_of_bad(evidence, rule.harm)
    low = least / (1 - least) * rule.tolerated / above
    return low, (1 - rest) / rest * rule.harm / below if rest else math.inf


@lru_cache(maxsize=256)
def times_to_find(rule: CountRule, evidence: CountEvidence, ratio: float) -> float | None:
    """Return how many times these counts find a ratio four times in five; None for over a hundred.

    1.0 where these do. None also without a bad event, and for a ratio that is tolerated or would
    make more bad than there are.
    """
    compared = _Compared.of(evidence.compared)
    if compared is None or ratio <= rule.tolerated or not 0 < compared.share_of_bad * ratio <= 1:
        return None
    if _is_found(rule, compared, ratio):
        return 1.0
    return _first(lambda times: _is_found(rule, compared, ratio, times), 1.0, _MOST_TIMES)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What is compared: how much each version served, and how much of it was bad.

    `rate` is the share of bad ones of both, as so many independent events.
    """

    new: float
    old: float
    share_of_bad: float
    rate: float

    @classmethod
    def of(cls, counts: BothCounts) -> _Compared | None:
        """Return it of the sums; None where there are none of one version."""
        new, old = counts.new, counts.old
        if not new.total or not old.total:
            return None
        share = (new.bad + old.bad) / (new.total + old.total)
        return cls(new.total, old.total, share, share / counts.dispersion)


def _smallest_detectable(rule: CountRule, compared: _Compared) -> float | None:
    """Search at the rate of both versions together; no rate is above 1."""
    share = compared.share_of_bad
    most = min(MOST_RATIO, 1 / share) if share else 0.0
    if most <= rule.tolerated:
        return None
    return _first(lambda ratio: _is_found(rule, compared, ratio), rule.tolerated, most)


def _is_found(rule: CountRule, compared: _Compared, ratio: float, times: float = 1.0) -> bool:
    """Tell whether so many times these counts would fail a true ratio four times in five."""
    weighed = ratio * compared.new
    events = times * compared.rate * (weighed + compared.old)
    least = _fewest_that_fail(rule, compared.new / compared.old, events)
    if least is None:
        return False
    return beta_probability(least, events - least + 1, weighed / (weighed + compared.old)) >= POWER


def _fewest_that_fail(rule: CountRule, odds: float, events: float) -> float | None:
    """Return how many of `events` new has to have to fail at the end; `odds` are its traffic's."""
    alpha = rule.alpha_now(at_the_end=True)

    def fails(bad_new: float) -> bool:
        if rule.known_length:
            return exact_tail(rule.tolerated * odds, bad_new, events - bad_new) <= alpha
        found = log_evidence_of_sums(rule.tolerated, odds, bad_new, events - bad_new)
        return found >= -math.log(alpha)

    return _first(fails, 0.0, events)


def _first(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """Return about the least value for which something holds that then goes on to hold."""
    if not holds(high):
        return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
