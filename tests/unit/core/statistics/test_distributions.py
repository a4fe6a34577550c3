"""Probabilities against SciPy, and against published examples."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from scipy.special import betainc, betaincinv
from scipy.stats import binom, chi2, mannwhitneyu

from gate.core.statistics.chi_squared import chi_squared_quantile, chi_squared_survival
from gate.core.statistics.incomplete_beta import beta_probability, beta_quantile
from gate.core.statistics.mann_whitney import probability_of_larger
from tests.long import longer
from tests.table import each

CLOSE = 1e-9
PAIRS = 400


def sizes(source: random.Random, count: int) -> list[tuple[float, float]]:
    """Return pairs of sizes between a half and a million, fractions among them."""
    return [(10 ** source.uniform(-0.3, 6), 10 ** source.uniform(-0.3, 6)) for _ in range(count)]


def test_the_incomplete_beta_function_is_scipys() -> None:
    """Of any size up to a million, wherever in the distribution."""
    source = random.Random(1)
    for a, b in sizes(source, PAIRS):
        x = float(betaincinv(a, b, source.random()))
        assert math.isclose(beta_probability(a, b, x), betainc(a, b, x), abs_tol=CLOSE), (a, b, x)


def test_its_quantiles_are_scipys() -> None:
    """At the probabilities that decide, to 1e-9 of their size."""
    source = random.Random(2)
    for a, b in sizes(source, PAIRS):
        for probability in (0.001, 0.005, 0.03, source.random()):
            found, wanted = beta_quantile(a, b, probability), float(betaincinv(a, b, probability))
            assert math.isclose(found, wanted, rel_tol=CLOSE), (a, b, probability)


def test_tails_of_binomial_counts_are_scipys() -> None:
    """At least `a` events of `n`, exactly."""
    for n in (1, 2, 7, 40, 1000):
        for a in range(1, n + 1, max(1, n // 40)):
            for share in (0.001, 0.3, 0.5556, 0.99):
                found = beta_probability(a, n - a + 1, share)
                assert math.isclose(found, binom.sf(a - 1, n, share), abs_tol=CLOSE), (a, n, share)


@each(
    ("a", "b", "x", "probability"),
    [(0, 3, 0.2, 1.0), (3, 0, 0.2, 0.0), (3, 0, 1.0, 1.0), (2, 3, 0.0, 0.0), (2, 3, 1.0, 1.0)],
)
def test_counts_of_zero_are_certain(a: float, b: float, x: float, probability: float) -> None:
    """At least 0 events are always there."""
    assert beta_probability(a, b, x) == probability


def test_no_distribution_has_a_negative_size() -> None:
    """Nor is one of two zeros."""
    for a, b in ((-1.0, 2.0), (0.0, 0.0), (math.nan, 1.0), (math.inf, 1.0)):
        with pytest.raises(ValueError, match="no beta distribution"):
            beta_probability(a, b, 0.5)


def test_the_interval_of_the_nist_handbook() -> None:
    """NIST/SEMATECH e-Handbook, 7.2.4.1: 4 defects of 20, an exact interval of 90 %.

    Its search in a spreadsheet ends within 1e-6.
    """
    assert beta_quantile(4, 17, 0.05) == pytest.approx(0.071354, abs=1e-6)
    assert beta_quantile(5, 16, 0.95) == pytest.approx(0.401029, abs=1e-6)


def test_the_conditional_test_of_gu_and_others() -> None:
    """Gu, Ng, Tang, Schucany (2008), "Testing the ratio of two Poisson rates": 60 against 30.

    Of 51,477.5 and 54,308.7 person-years; their Table of p-values has 0.000428 for the exact one.
    """
    share = 51_477.5 / (51_477.5 + 54_308.7)
    assert beta_probability(60, 31, share) == pytest.approx(0.000428, abs=5e-7)


def test_the_conditional_interval_of_rs_manual() -> None:
    """R, `poisson.test`, example eba1977: 11 cases of 800 in Fredericia, 21 of 3,011 elsewhere.

    It prints an interval of 95 % of the ratio from 0.8584264 to 4.2772659.
    """
    least, rest = beta_quantile(11, 22, 0.025), beta_quantile(21, 12, 0.025)
    odds = 3011 / 800
    assert least / (1 - least) * odds == pytest.approx(0.8584264, abs=5e-8)
    assert (1 - rest) / rest * odds == pytest.approx(4.2772659, abs=5e-8)


def test_the_tail_of_chi_squared_is_scipys() -> None:
    """For few and for many degrees of freedom."""
    source = random.Random(3)
    for _ in range(PAIRS):
        degrees = source.choice([source.randint(1, 1000), 10 ** source.uniform(0, 5)])
        value = float(chi2.ppf(source.random(), degrees))
        found = chi_squared_survival(value, degrees)
        assert math.isclose(found, chi2.sf(value, degrees), abs_tol=CLOSE), (value, degrees)


def test_its_quantiles_are_scipys_too() -> None:
    """For every number of ticks that a phase of an hour has."""
    for degrees in range(1, 721):
        for probability in (0.1, 0.95):
            found = chi_squared_quantile(probability, degrees)
            assert math.isclose(found, chi2.ppf(probability, degrees), rel_tol=CLOSE), degrees


@each(
    ("probability", "degrees", "value"),
    [(0.95, 1, 3.841), (0.95, 10, 18.307), (0.95, 100, 124.342), (0.1, 10, 4.865), (0.1, 2, 0.211)],
)
def test_the_table_of_the_nist_handbook(probability: float, degrees: int, value: float) -> None:
    """NIST/SEMATECH e-Handbook, 1.3.6.7.4: critical values of chi-squared."""
    assert chi_squared_quantile(probability, degrees) == pytest.approx(value, abs=5e-4)


def test_no_chi_squared_without_degrees() -> None:
    """And no quantile of what is no probability."""
    with pytest.raises(ValueError, match="0 degrees"):
        chi_squared_survival(1.0, 0)
    with pytest.raises(ValueError, match="no quantile"):
        chi_squared_quantile(1.0, 3)
    assert chi_squared_survival(-1.0, 3) == 1.0


Sizes = tuple[int, int]
Pair = tuple[list[float], list[float]]
Draw = Callable[[random.Random, Sizes], Pair]


def untied(source: random.Random, sizes: Sizes) -> Pair:
    """Draw two samples in which no value comes twice."""
    new, old = ([source.random() for _ in range(size)] for size in sizes)
    return new, old


def tied(source: random.Random, sizes: Sizes) -> Pair:
    """Draw two samples with at least one tie, and not all of one value."""
    levels = source.randint(2, 20)
    new, old = ([float(source.randint(0, levels)) for _ in range(size)] for size in sizes)
    new[:2] = old[:2] = [0.0, 1.0]
    return new, old


METHODS: dict[Draw, str] = {untied: "exact", tied: "asymptotic"}
"""Which of SciPy's is held against the gate's."""

SIZES: list[tuple[Draw, Sizes]] = [
    *((untied, sizes) for sizes in ((1, 1), (1, 9), (2, 7), (5, 5), (8, 8), (8, 12), (12, 8))),
    *((untied, sizes) for sizes in ((11, 3), (14, 14), (20, 9), (8, 40), (30, 30), (40, 40))),
    *((tied, sizes) for sizes in ((8, 8), (8, 60), (9, 33), (20, 20), (30, 30), (41, 12))),
    *((tied, sizes) for sizes in ((50, 50), (60, 8), (12, 12))),
]
"""The largest that is exact among them."""


@pytest.mark.parametrize("count", [4, longer(550)])
@each(("draw", "sizes"), SIZES, ids=lambda case: f"{case[0].__name__} {case[1]}")
def test_probabilities_are_scipys(draw: Draw, sizes: Sizes, count: int) -> None:
    """On random pairs, exact without ties, normal with them; over 10,000 in the long test."""
    source = random.Random(str(sizes))
    drawn = [draw(source, sizes) for _ in range(count)]
    new, old = zip(*drawn, strict=True)
    wanted = mannwhitneyu(new, old, alternative="greater", method=METHODS[draw], axis=1).pvalue
    for (one, other), probability in zip(drawn, wanted, strict=True):
        found = probability_of_larger(one, other)
        assert math.isclose(found, probability, rel_tol=0, abs_tol=1e-9), (one, other)


def test_equal_values_prove_nothing() -> None:
    """Not even on many samples."""
    assert probability_of_larger([3.0] * 50, [3.0] * 50) == 1.0
