"""What counts show of the true ratio: its interval, and what they could have shown."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.special import betaincinv

from gate.core.statistics.count_decision import CountRule, End, judge
from gate.core.statistics.count_estimate import POWER, estimate, times_to_find
from gate.core.statistics.ratio_likelihoods import ALTERNATIVES, STEP
from tests.table import each
from tests.unit.core.statistics.test_count_decision import BAKE, CLOSE, ROLLOUT, gathered, steady


@pytest.mark.contract("B1380")
def test_what_one_version_served_alone_shows_no_ratio_in_a_rollout() -> None:
    """It is no evidence there, so it makes no smaller ratio detectable, and less time enough."""
    together = [(2, 200, 2, 200)] * 10
    shared = gathered(ROLLOUT, *together)
    alone_first, alone_last = [(0, 0, 2, 200)] * 20, [(2, 200, 0, 0)] * 20
    more = gathered(ROLLOUT, *alone_first, together[0], *together, *alone_last)
    found = estimate(ROLLOUT, shared).detectable
    assert found is not None
    assert estimate(ROLLOUT, more).detectable == found
    assert times_to_find(ROLLOUT, more, 2) == times_to_find(ROLLOUT, shared, 2)
    seen = gathered(BAKE, *together)
    assert (estimate(BAKE, seen).detectable or 0) < found


@pytest.mark.contract("B1156")
def test_the_interval_is_scipys() -> None:
    """Its lower end by the alpha that fails, its upper end by that which passes."""
    evidence = steady(BAKE, 30, (2, 100), (1, 50))
    for at_the_end, alpha in ((False, 0.004), (True, 0.03)):
        found = estimate(BAKE, evidence, at_the_end=at_the_end)
        least, rest = betaincinv(60, 31, alpha), betaincinv(30, 61, 0.001)
        assert found.ratio == pytest.approx(1.0)
        assert math.isclose(found.low, least / (1 - least) / 2, rel_tol=CLOSE)
        assert math.isclose(found.high, (1 - rest) / rest / 2, rel_tol=CLOSE)


@pytest.mark.contract("B1156")
@each("rule", [BAKE, ROLLOUT])
def test_the_interval_says_what_the_decision_says(rule: CountRule) -> None:
    """Worse is an interval beyond what is tolerated, not harmful one below what is harmful."""
    source = random.Random(6)
    seen = set()
    for _ in range(40):
        new, old = source.randint(5, 50) / 10, source.randint(5, 20) / 10
        evidence = steady(rule, source.choice([15, 40]), (new, 100), (old, 100))
        end, found = judge(rule, evidence), estimate(rule, evidence)
        seen.add(end)
        assert (end is End.WORSE) == (found.low >= rule.tolerated * (1 - CLOSE))
        assert (end is End.NOT_HARMFUL) == (found.high <= rule.harm * (1 + CLOSE))
        assert found.ratio is not None
        assert found.low <= found.ratio <= found.high
    assert seen == {*End}


@pytest.mark.contract("B1156")
@each("dispersion", [1.0, 3.7])
@each("bad", [3, 4000])
def test_an_interval_ends_at_the_first_ratio_that_the_evidence_refutes(
    bad: int, dispersion: float
) -> None:
    """Of evidence that is just enough for a step, and just not enough.

    Also where likelihoods are too small for a number (4,000 events a tick).
    """
    known = steady(ROLLOUT, 40, (bad, 1_000_000), (bad, 1_000_000)).likelihoods
    known_evidence = [
        known.log_evidence_above(ROLLOUT.tolerated, steps, dispersion) for steps in (-24, -9, -2)
    ]
    for close in (one * factor for one in known_evidence for factor in (1 - CLOSE, 1 + CLOSE)):
        threshold = math.exp(min(close, 700))
        evidence = math.log(threshold)
        lower = (
            ROLLOUT.tolerated * math.exp(steps * STEP)
            for steps in range(ALTERNATIVES, -2 * ALTERNATIVES - 1, -1)
            if known.log_evidence_above(ROLLOUT.tolerated, steps, dispersion) >= evidence
        )
        upper = (
            ROLLOUT.harm * math.exp(steps * STEP)
            for steps in range(-ALTERNATIVES, 2 * ALTERNATIVES + 1)
            if known.log_evidence_below(ROLLOUT.harm, steps, dispersion) >= evidence
        )
        found = known.lower_end(ROLLOUT.tolerated, threshold, dispersion)
        assert found == next(lower, 0.0)
        assert known.upper_end(ROLLOUT.harm, threshold, dispersion) == next(upper, math.inf)


@pytest.mark.contract("B1156")
def test_no_ratio_is_shown_beyond_all_requests_being_bad() -> None:
    """At 90 % bad requests hardly more can be, however many there are."""
    evidence = steady(BAKE, 20, (900, 1000), (900, 1000))
    assert estimate(BAKE, evidence).detectable is None
    assert estimate(BAKE, steady(BAKE, 20, (400, 1000), (400, 1000))).detectable is not None


@pytest.mark.contract("B1156")
@each("rule", [BAKE, ROLLOUT])
def test_the_smallest_detectable_ratio_is_found_four_times_in_five(rule: CountRule) -> None:
    """At the end, with that traffic: a version of that ratio fails in about 80 % of phases."""
    evidence = steady(rule, 30, (1, 100), (1, 100))
    ratio = estimate(rule, evidence).detectable
    assert ratio is not None
    source = np.random.default_rng(8)
    runs = 100
    bad = source.binomial(100, [ratio / 100, 0.01], (runs, 30, 2))
    found = sum(
        judge(rule, gathered(rule, *((new, 100, old, 100) for new, old in run)), at_the_end=True)
        is End.WORSE
        for run in bad.tolist()
    )
    assert POWER - 0.12 < found / runs < POWER + 0.12
