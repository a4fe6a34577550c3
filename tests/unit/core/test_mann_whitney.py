"""Mann-Whitney against SciPy, and what the test of new against old has to hold."""

from __future__ import annotations

import math
import random
from statistics import mean

import pytest
from scipy.stats import mannwhitneyu

from gate.core.mann_whitney import probability_of_larger, shift

Pairs = tuple[list[list[float]], list[list[float]]]

EXACT_SIZES = [(1, 1), (1, 9), (2, 7), (5, 5), (8, 8), (8, 12), (12, 8), (11, 3), (14, 14), (20, 9)]
TIED_SIZES = [(8, 8), (8, 60), (9, 33), (20, 20), (30, 30), (41, 12), (50, 50), (60, 8), (12, 12)]
PAIRS = 550
"""Of each size: over 10,000 in all."""


def agrees(new: list[list[float]], old: list[list[float]], method: str, tolerance: float) -> None:
    """Assert that each pair's probability is SciPy's, which takes them all at once."""
    wanted = mannwhitneyu(new, old, alternative="greater", method=method, axis=1).pvalue
    for above, below, probability in zip(new, old, wanted, strict=True):
        found = probability_of_larger(above, below)
        assert math.isclose(found, probability, rel_tol=0, abs_tol=tolerance), (above, below)


@pytest.mark.parametrize("sizes", EXACT_SIZES, ids=str)
def test_exact_probabilities_are_scipys(sizes: tuple[int, int]) -> None:
    """On random pairs without ties, to 1e-9."""
    source = random.Random(str(sizes))
    new, old = ([[source.random() for _ in range(n)] for _ in range(PAIRS)] for n in sizes)
    agrees(new, old, "exact", 1e-9)


@pytest.mark.parametrize("sizes", TIED_SIZES, ids=str)
def test_normal_probabilities_are_scipys(sizes: tuple[int, int]) -> None:
    """On random pairs with ties, to 1e-3."""
    source = random.Random(str(sizes))
    levels = [source.randint(2, 20) for _ in range(PAIRS)]
    new, old = (
        [[float(source.randint(0, n)) for _ in range(size)] for n in levels] for size in sizes
    )
    for above, below in zip(new, old, strict=True):
        above[:2] = below[:2] = [0.0, 1.0]  # at least one tie, and not all of one value
    agrees(new, old, "asymptotic", 1e-3)


@pytest.mark.parametrize("sizes", [(40, 40), (8, 40), (30, 30)])
def test_large_samples_are_still_counted_out(sizes: tuple[int, int]) -> None:
    """The bound of what is exact."""
    source = random.Random(3)
    new = [source.gauss(0.5, 1) for _ in range(sizes[0])]
    old = [source.gauss(0, 1) for _ in range(sizes[1])]
    agrees([new], [old], "exact", 1e-9)


def test_equal_values_prove_nothing() -> None:
    """Not even on many samples."""
    assert probability_of_larger([3.0] * 50, [3.0] * 50) == 1.0


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e9])
def test_the_scale_does_not_count(scale: float) -> None:
    """Seconds or nanoseconds: the ranks are the same."""
    source = random.Random(4)
    new = [source.lognormvariate(0.2, 0.5) for _ in range(30)]
    old = [source.lognormvariate(0, 0.5) for _ in range(30)]
    scaled = [[value * scale for value in sample] for sample in (new, old)]
    assert probability_of_larger(*scaled) == probability_of_larger(new, old)
    assert math.isclose(shift(*scaled), shift(new, old) * scale)


def test_false_alarms_are_as_rare_as_asked_for() -> None:
    """At 2 %, between 1 and 3 % on equal sources."""
    source = random.Random(5)
    alarms = [
        probability_of_larger(_sample(source, 1.0), _sample(source, 1.0)) <= 0.02
        for _ in range(4000)
    ]
    assert 0.01 <= mean(alarms) <= 0.03


def test_a_doubled_median_is_seen() -> None:
    """With 30 samples a side of a lognormal with sigma 0.5, in more than 9 of 10 cases."""
    source = random.Random(6)
    seen = [
        probability_of_larger(_sample(source, 2.0), _sample(source, 1.0)) <= 0.02
        for _ in range(1000)
    ]
    assert mean(seen) > 0.9


def test_the_shift_is_the_median_difference() -> None:
    """An outlier moves it little."""
    assert shift([5.0, 6.0, 7.0], [1.0, 2.0, 3.0]) == 4.0
    assert shift([5.0, 6.0, 7000.0], [1.0, 2.0, 3.0]) == 4.0


def _sample(source: random.Random, middle: float) -> list[float]:
    return [source.lognormvariate(math.log(middle), 0.5) for _ in range(30)]
