"""The Mann-Whitney test, one-sided: whether some numbers are larger than others, of any shape.

Exact if both samples are small and no value occurs twice, else normal with a correction for ties
(Mann and Whitney 1947; Hollander and Wolfe, "Nonparametric Statistical Methods", 4.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

MOST_EXACT = 40
"""Samples up to this size on each side are counted exactly: a hundredth of a second at worst."""

_CONTINUITY = 0.5


def probability_of_larger(new: Sequence[float], old: Sequence[float]) -> float:
    """Return how likely `new` would rank as high as it does, were both drawn from one source.

    Both hold finite numbers, at least one each. 1.0 if all values are the same.
    """
    ranked = sorted([*((value, True) for value in new), *((value, False) for value in old)])
    ties: list[int] = []
    rank_sum, passed = 0.0, 0
    for _, group in groupby(ranked, key=lambda pair: pair[0]):
        sides = [is_new for _, is_new in group]
        rank_sum += sum(sides) * (passed + (len(sides) + 1) / 2)
        passed += len(sides)
        ties.append(len(sides))
    statistic = rank_sum - len(new) * (len(new) + 1) / 2
    if max(ties) == 1 and max(len(new), len(old)) <= MOST_EXACT:
        return _exact(round(statistic), len(new), len(old))
    return _normal(statistic, len(new), len(old), ties)


def shift(new: Sequence[float], old: Sequence[float]) -> float:
    """Return by how much `new` lies above `old`: the median of all differences (Hodges-Lehmann)."""
    differences = sorted(above - below for above in new for below in old)
    middle = len(differences) // 2
    return (differences[middle] + differences[~middle]) / 2


def _exact(statistic: int, new: int, old: int) -> float:
    ways = _ways(min(new, old), max(new, old))
    return sum(ways[statistic:]) / sum(ways)


@lru_cache(maxsize=64)
def _ways(few: int, many: int) -> tuple[int, ...]:
    """Count the orders of two samples by their statistic: the Gaussian binomial's coefficients."""
    degree = few * many
    ways = [1] + [0] * degree
    for step in range(1, few + 1):
        for at in range(degree, many + step - 1, -1):
            ways[at] -= ways[at - many - step]
        for at in range(step, degree + 1):
            ways[at] += ways[at - step]
    return tuple(ways)


def _normal(statistic: float, new: int, old: int, ties: Sequence[int]) -> float:
    total = new + old
    tied = sum(count**3 - count for count in ties) / (total * (total - 1))
    variance = new * old / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0
    distance = statistic - new * old / 2 - _CONTINUITY
    return math.erfc(distance / math.sqrt(2 * variance)) / 2
