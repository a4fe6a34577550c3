"""New against old by counts: each rule of the decision, against SciPy where there is one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binom, chi2, norm

from gate.core.statistics.count_decision import LEAST_TICKS, CountRule, End, judge
from gate.core.statistics.count_estimate import estimate
from gate.core.statistics.count_evidence import BothCounts, CountEvidence, CountTick, SideCounts
from gate.core.statistics.stratified_odds import NO_STRATA
from tests.table import each

BAKE = CountRule(known_length=True)
ROLLOUT = CountRule()
CLOSE = 1e-9

Tick: TypeAlias = tuple[float, float, float, float]


def gathered(rule: CountRule, *ticks: Tick) -> CountEvidence:
    """Return the evidence of ticks: bad and all of new, bad and all of old."""
    evidence = rule.begin()
    for tick in ticks:
        evidence = evidence.plus(CountTick(*tick))
    return evidence


def steady(
    rule: CountRule, ticks: int, new: tuple[float, float], old: tuple[float, float]
) -> CountEvidence:
    """Return the evidence of ticks that are all the same."""
    return gathered(rule, *[(*new, *old)] * ticks)


def tail(rule: CountRule, evidence: CountEvidence) -> float:
    """Return SciPy's probability of so many bad events of new, at the tolerated ratio."""
    odds = rule.tolerated * evidence.new.total / evidence.old.total
    return float(betainc(evidence.new.bad, evidence.old.bad + 1, odds / (1 + odds)))


@pytest.mark.contract("B1380")
def test_looks_that_see_one_version_each_count_as_one_that_sees_both() -> None:
    """Wherever the other version is seen within the ticks that are joined, and not beyond."""
    nothing, new, old = (0, 0, 0, 0), (3, 100, 0, 0), (0, 0, 1, 100)

    def evidence(*ticks: Tick, first: float = 1.0) -> float:
        found = ROLLOUT.begin(most_joined=3).plus(CountTick(0, first, 0, first))
        for tick in ticks:
            found = found.plus(CountTick(*tick))
        return found.likelihoods.log_evidence_above(ROLLOUT.tolerated)

    together = evidence((3, 100, 1, 100))
    assert together > 0
    assert evidence(new, old) == evidence(old, nothing, new) == evidence(nothing, old, new)
    assert evidence(old, new) == together
    assert evidence(old, nothing, nothing, new) == 0
    assert evidence(old, old, old, new, old) == 0, "new has counted since what was dropped"
    assert evidence(old, old, old, new, new, old) == together
    assert evidence(new, old, new, old) > together
    late = evidence(old, old, new, old, first=0)
    assert late == 0, "the first look at a version also saw the time before it"
    assert evidence(old, old, new, new, old, first=0) == together


@pytest.mark.contract("B1535")
@each("rule", [BAKE, ROLLOUT])
def test_what_a_version_counted_unseen_counts_no_more_than_the_others_of_that_time(
    rule: CountRule,
) -> None:
    """It comes all at once as soon as the version is scraped again, as a shared incident did."""
    both, incident, after = (1, 100, 1, 100), (0, 0, 5, 100), (21, 500, 1, 100)
    seen = gathered(rule, *[both] * 10, *[incident] * 4, after, both)
    assert seen.compared == gathered(rule, *[both] * 11).compared
    assert seen.new.bad > seen.compared.new.bad


@pytest.mark.contract("B1561")
@each(
    "ticks",
    [
        [(9, 900, 1, 100), (1, 100, 1, 100)],
        [(9, 900, 0, 0), (0, 0, 2, 200), (1, 100, 1, 100)],
        [(0, 0, 1, 100), (9, 900, 0, 0), (1, 100, 1, 100)],
        [(0, 0, 0, 0), (9, 900, 0, 0), (0, 0, 2, 200), (1, 100, 1, 100)],
    ],
)
def test_what_comes_first_after_a_break_is_compared_with_nothing(ticks: list[Tick]) -> None:
    """Each version's next events reach back over the time that no look saw, whichever is first."""
    before = gathered(BAKE, *[(1, 100, 1, 100)] * 3)
    seen = before.after_break()
    for tick in ticks:
        seen = seen.plus(CountTick(*tick))
    assert seen.compared == before.plus(CountTick(1, 100, 1, 100)).compared


@pytest.mark.contract("B1151", "B1536")
@each(
    ("before", "after", "ratio", "wrong"),
    [
        ((0.4, 40, 3.6, 360), (10.8, 360, 1.2, 40), 1, End.WORSE),
        ((7.2, 360, 0.4, 40), (2.4, 40, 10.8, 360), 2, End.NOT_HARMFUL),
    ],
)
def test_traffic_that_moves_while_both_get_worse_decides_nothing(
    before: Tick, after: Tick, ratio: float, wrong: End
) -> None:
    """By their sums the first is 2.3 times as bad, and the second 0.86 times."""
    ticks = [before] * 12 + [after] * 12
    seen = gathered(BAKE, *ticks)
    assert judge(BAKE, replace(seen, strata=NO_STRATA)) is wrong, "sums deceive"
    assert judge(BAKE, seen) is not wrong
    assert judge(ROLLOUT, gathered(ROLLOUT, *ticks)) is not wrong
    assert seen.compared.ratio == pytest.approx(ratio, rel=0.01)
    figures = estimate(BAKE, seen)
    assert figures.low < ratio < figures.high


@pytest.mark.contract("B1151")
@each(
    ("rule", "new", "end"),
    [
        (BAKE, (3, 100), End.WORSE),
        (BAKE, (1, 100), End.NOT_HARMFUL),
        (BAKE, (1.6, 100), End.UNDECIDED),
        (ROLLOUT, (3, 100), End.WORSE),
        (ROLLOUT, (1, 100), End.NOT_HARMFUL),
        (ROLLOUT, (1.6, 100), End.UNDECIDED),
    ],
)
def test_there_are_three_ends(rule: CountRule, new: tuple[float, float], end: End) -> None:
    """After ten minutes of one bad request a tick in the old version."""
    assert judge(rule, steady(rule, 60, new, (1, 100))) is end


@pytest.mark.contract("B1151")
def test_the_exact_test_is_scipys() -> None:
    """It fails where the tail is at most a share of alpha, at the end at most alpha itself."""
    source = random.Random(4)
    seen = set()
    for _ in range(300):
        new, old = source.randint(10, 60) / 10, source.randint(5, 30) / 10
        evidence = steady(BAKE, 30, (new, source.choice([20, 100])), (old, 100))
        for at_the_end, alpha in ((False, 0.004), (True, 0.03)):
            worse = judge(BAKE, evidence, at_the_end=at_the_end) is End.WORSE
            assert worse == (tail(BAKE, evidence) <= alpha)
            seen.add((at_the_end, worse))
    assert len(seen) == 4


Rejects = Callable[[int, int, bool], float]
"""With which probability so many bad events of new, and of old, are rejected; True at the end."""


def spent(rejects: Rejects, looks: int, events: int, share: float) -> float:
    """Return how probable it is to be rejected at any look, exactly.

    At each look come so many bad events more, of which new has each with the probability `share`.
    """
    alive, more, gone = np.ones(1), binom.pmf(np.arange(events + 1), events, share), 0.0
    for look in range(1, looks + 1):
        alive = np.convolve(alive, more)
        all_ = look * events
        rejected = np.array([rejects(new, all_ - new, look == looks) for new in range(all_ + 1)])
        gone += float(alive @ rejected)
        alive *= 1 - rejected
    return gone


@each(("looks", "published"), [(2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142)])
def test_repeated_tests_spend_what_is_published(looks: int, published: float) -> None:
    """Armitage, McPherson, Rowe (1969), Table 2: tests at 5 % that are repeated at each look.

    They are of normal sums. Of counts as large a difference stands for one that is up to 1 off.
    """

    def rejects(new: int, old: int, at_the_end: bool) -> float:
        del at_the_end
        beyond = abs(new - old) - float(norm.isf(0.025)) * math.sqrt(new + old)
        return min(1.0, max(0.0, (beyond + 1) / 2))

    assert spent(rejects, looks, 400, 0.5) == pytest.approx(published, abs=0.001)


@pytest.mark.contract("B1151")
def test_the_boundary_of_haybittle_and_peto_spends_as_scipys_does() -> None:
    """Over sixty looks, at the tolerated ratio itself; and less than its last look and a half.

    Haybittle (1971) and Peto and others (1976): looks at a small share leave the last nearly whole.
    """
    share = BAKE.tolerated / (1 + BAKE.tolerated)

    def by_scipy(new: int, old: int, at_the_end: bool) -> bool:
        alpha = 0.03 if at_the_end else 0.03 * 2 / 15
        return new > 0 and binom.sf(new - 1, new + old, share) <= alpha

    def by_the_gate(new: int, old: int, at_the_end: bool) -> bool:
        all_ = 10_000.0
        of_new, of_old = (
            SideCounts(bad, all_, bad * bad / all_, LEAST_TICKS) for bad in (new, old)
        )
        evidence = CountEvidence(of_new, of_old, compared=BothCounts(of_new, of_old))
        return judge(BAKE, evidence, at_the_end=at_the_end) is End.WORSE

    found, scipys = (spent(each_, 60, 2, share) for each_ in (by_the_gate, by_scipy))
    assert found == pytest.approx(scipys, abs=CLOSE)
    assert BAKE.alpha / 2 < found < BAKE.alpha * 1.5


@pytest.mark.contract("B1155")
@each("rule", [BAKE, ROLLOUT])
def test_alpha_is_shared_by_the_checks_that_compare(rule: CountRule) -> None:
    """What one alone would fail, one of eight does not."""
    evidence = steady(rule, 20, (2.6, 100), (0.9, 100))
    assert judge(rule, evidence) is End.WORSE
    assert judge(replace(rule, split=8), evidence) is not End.WORSE


@pytest.mark.contract("B1151", "B1220")
@each("rule", [BAKE, ROLLOUT])
def test_nothing_fails_before_the_ninth_tick(rule: CountRule) -> None:
    """Whether events come in bursts is not known earlier."""
    assert judge(rule, steady(rule, 8, (50, 100), (1, 100))) is End.UNDECIDED
    assert judge(rule, steady(rule, 9, (50, 100), (1, 100))) is End.WORSE
    unscraped = [(0, 0, 0, 0)] * 9
    few = gathered(rule, *[(50, 100, 1, 100)] * 8, *unscraped)
    assert judge(rule, few) is End.UNDECIDED


@pytest.mark.contract("B1152")
@each("rule", [BAKE, ROLLOUT])
def test_ticks_of_one_version_alone_do_not_make_the_other_known(rule: CountRule) -> None:
    """The old one serves alone while a new pod starts, the new one once old pods are gone."""
    old_alone, new_alone = [(0, 0, 1, 100)] * 12, [(50, 100, 0, 0)] * 12
    both = (50, 100, 1, 100)
    for alone in (old_alone, new_alone):
        assert judge(rule, gathered(rule, *alone, *[both] * 9)) is End.UNDECIDED
        assert judge(rule, gathered(rule, *alone, *[both] * 10)) is End.WORSE


@pytest.mark.contract("B1151")
@each("rule", [BAKE, ROLLOUT])
def test_a_difference_below_min_delta_does_not_fail(rule: CountRule) -> None:
    """Thrice as much of next to nothing."""
    evidence = steady(rule, 60, (3, 1000), (1, 1000))
    assert judge(replace(rule, min_delta=0.001), evidence) is End.WORSE
    assert judge(replace(rule, min_delta=0.002), evidence) is not End.WORSE


@pytest.mark.contract("B1152")
@each(
    ("total", "is_last", "end"),
    [
        (6904, False, "undecided"),
        (6905, False, "not-harmful"),
        (4602, True, "undecided"),
        (4603, True, "not-harmful"),
    ],
)
def test_a_negligible_rate_passes(total: int, is_last: bool, end: str) -> None:
    """Without a bad request: after 6,905 with 99.9 %, at the end after 4,603 with 99 %."""
    for rule, found in ((BAKE, End(end)), (replace(BAKE, negligible=0.0), End.UNDECIDED)):
        ticks = [(0, 1, 0, 1)] * (LEAST_TICKS - 1)
        evidence = gathered(rule, *ticks, (0, total - len(ticks), 0, 100))
        assert judge(rule, evidence, at_the_end=is_last) is found
        assert judge(rule, gathered(rule, (0, total, 0, 100)), at_the_end=is_last) is End.UNDECIDED


@pytest.mark.contract("B1151")
def test_a_pass_in_a_phase_of_unknown_length_takes_evidence_of_a_hundred_to_one() -> None:
    """Where it first passes, the mean of the likelihood ratios has just reached a hundred."""

    def evidence(bad: int) -> CountEvidence:
        return steady(ROLLOUT, 60, (bad / 60, 100), (1, 100))

    ends = ((bad, judge(ROLLOUT, evidence(bad))) for bad in range(120, 0, -1))
    most = next(bad for bad, end in ends if end is End.NOT_HARMFUL)
    known = [evidence(bad).likelihoods for bad in (most, most + 1)]
    logs = [one.log_evidence_below(ROLLOUT.harm, dispersion=1.0) for one in known]
    assert logs[0] >= math.log(100) > logs[1]


@pytest.mark.contract("B1152")
@each("rule", [BAKE, ROLLOUT])
def test_a_version_without_traffic_is_undecided(rule: CountRule) -> None:
    """On either side; so is one without any bad event."""
    for new, old in (((0, 0), (1, 100)), ((1, 100), (0, 0)), ((0, 50), (0, 50)), ((0, 0), (0, 0))):
        evidence = steady(rule, 60, new, old)
        assert judge(rule, evidence, at_the_end=True) is End.UNDECIDED
        estimate(rule, evidence)


@pytest.mark.contract("B1153")
@each("rule", [BAKE, ROLLOUT])
def test_events_in_bursts_count_for_less(rule: CountRule) -> None:
    """The same sums fail if they come evenly, and not if they come in two bursts."""
    even = steady(rule, 20, (3, 100), (1, 100))
    bursts = [(30, 100, 10, 100)] * 2 + [(0, 100, 0, 100)] * 18
    uneven = gathered(rule, *bursts)
    assert even.new.bad == uneven.new.bad
    assert even.compared.dispersion == 1.0
    assert judge(rule, even) is End.WORSE
    assert judge(rule, uneven) is not End.WORSE


@pytest.mark.contract("B1153")
def test_the_dispersion_is_scipys() -> None:
    """Pearson's X^2 over its tenth percentile, where it is beyond its ninetieth."""
    source = random.Random(5)
    counts = [
        (float(source.choice([0, 6])), 100.0, float(source.choice([0, 4])), 80.0) for _ in range(30)
    ]
    evidence = gathered(BAKE, *counts)
    spread = 0.0
    for side in (0, 2):
        bad, total = [tick[side] for tick in counts], [tick[side + 1] for tick in counts]
        rate = sum(bad) / sum(total)
        spread += sum(
            (one - rate * all_) ** 2 / (rate * all_) for one, all_ in zip(bad, total, strict=True)
        )
    assert spread > chi2.ppf(0.9, 58)
    assert math.isclose(evidence.compared.dispersion, spread / chi2.ppf(0.1, 58), rel_tol=CLOSE)


@pytest.mark.contract("B1450", "B1538")
@each("old", [(1, 1000), (300, 1000)])
def test_a_negligible_rate_goes_by_the_bursts_of_the_new_version_alone(
    old: tuple[float, float],
) -> None:
    """Whether the old one was calm beside it, or in trouble before it came."""
    before = [(0, 0, 1, 1000)] * 10 + [(0, 0, *old)] * 10
    calm = [(1, 8000, 1, 1000), (2, 8000, 1, 1000)] * 6
    assert judge(BAKE, gathered(BAKE, *before, *calm)) is End.NOT_HARMFUL
    bursts = [(0, 8000, 1, 1000)] * 10 + [(9, 8000, 1, 1000)] * 2
    assert judge(BAKE, gathered(BAKE, *before, *bursts)) is not End.NOT_HARMFUL


@pytest.mark.contract("B1151")
def test_an_e_process_is_the_mean_of_24_likelihood_ratios() -> None:
    """From 1.25 times to 8 times the old rate, each tick by its own exposures."""
    evidence = gathered(ROLLOUT, (3, 40, 1, 60), (2, 90, 2, 30))
    expected = 0.0
    for k in range(1, 25):
        ratio = 1.25 * (8 / 1.25) ** (k / 24)
        product = 1.0
        for bad_new, total_new, bad_old, total_old in ((3, 40, 1, 60), (2, 90, 2, 30)):
            other, null = (
                each * total_new / (total_old + each * total_new) for each in (ratio, 1.25)
            )
            product *= (other / null) ** bad_new * ((1 - other) / (1 - null)) ** bad_old
        expected += product / 24
    found = evidence.likelihoods.log_evidence_above(1.25)
    assert math.isclose(math.exp(found), expected, rel_tol=CLOSE)
