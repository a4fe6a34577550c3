"""Densities without cancellation: Stirling's error and the deviance of one term.

`lgamma` alone loses digits where counts are large: its values cancel. Loader, "Fast and accurate
computation of binomial probabilities" (2000), splits off what is small instead.
"""

from __future__ import annotations

import math
from typing import Final

_SERIES_FROM: Final = 15.0
"""From here on the series is exact to the last digit of a float."""
_STIRLING: Final = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188)
_NEAR: Final = 0.1
_HALF_LOG_TWO_PI: Final = 0.5 * math.log(2 * math.pi)


def stirling_error(value: float) -> float:
    """Return how far the logarithm of `value!` lies above Stirling's formula; `value` above 0."""
    if value < _SERIES_FROM:
        formula = (value + 0.5) * math.log(value) - value + _HALF_LOG_TWO_PI
        return math.lgamma(value + 1) - formula
    square = value * value
    found = 0.0
    for at, term in reversed([*enumerate(_STIRLING)]):
        found = (-term if at % 2 else term) + found / square
    return found / value


def deviance(value: float, expected: float) -> float:
    """Return `value ln(value / expected) + expected - value`, exact where both are close."""
    gap = value - expected
    if abs(gap) >= _NEAR * (value + expected):
        return value * math.log(value / expected) - gap
    share = gap / (value + expected)
    total, power, square = gap * share, 2 * value * share, share * share
    at = 1
    while True:
        power *= square
        more = total + power / (2 * at + 1)
        if more == total:
            return total
        total, at = more, at + 1
