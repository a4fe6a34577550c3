"""The chi-squared distribution: its tail and its quantiles, by the incomplete gamma function.

The series of DLMF 8.11.4 below the mean, the continued fraction of DLMF 8.9.2 above it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from gate.core.statistics.normal_quantile import approximate_normal_quantile
from gate.core.statistics.saddle_point import deviance, stirling_error

_TINY: Final = 1e-300
_EPSILON: Final = 4e-16
_MOST_STEPS: Final = 200_000
_BISECTIONS: Final = 200
_LOG_TWO_PI: Final = math.log(2 * math.pi)


def chi_squared_survival(value: float, degrees: float) -> float:
    """Return the probability that a chi-squared variable is above `value`; `degrees` above 0."""
    if not degrees > 0:
        raise ValueError(f"no chi-squared distribution: {degrees} degrees of freedom")
    if value <= 0:
        return 1.0
    a, x = degrees / 2, value / 2
    if x < a + 1:
        return max(0.0, 1.0 - _front(a, x) * _series(a, x) / a)
    return _front(a, x) * _fraction(a, x)


@lru_cache(maxsize=4096)
def chi_squared_quantile(probability: float, degrees: float) -> float:
    """Return the value that is not exceeded with `probability`, which is above 0 and below 1."""
    if not 0 < probability < 1:
        raise ValueError(f"no quantile: {probability}")
    # Wilson and Hilferty's cube is a good start for any degrees.
    ninth = 2 / (9 * degrees)
    at = (
        degrees
        * max(0.01, 1 - ninth + approximate_normal_quantile(probability) * math.sqrt(ninth)) ** 3
    )
    low, high = 0.0, math.inf
    for _ in range(_BISECTIONS):
        miss = chi_squared_survival(at, degrees) - (1 - probability)
        if miss == 0:
            return at
        low, high = (at, high) if miss > 0 else (low, at)
        slope = _front(degrees / 2, at / 2) / at
        better = at + miss / slope if slope > 0 else math.nan
        middle = (low + high) / 2 if math.isfinite(high) else 2 * at
        following = better if low < better < high else middle
        if abs(following - at) <= _EPSILON * at:
            return following
        at = following
    return at


def _front(a: float, x: float) -> float:
    """Return x^a e^-x / Gamma(a)."""
    return a * math.exp(-deviance(a, x) - stirling_error(a) - 0.5 * (_LOG_TWO_PI + math.log(a)))


def _series(a: float, x: float) -> float:
    term = total = 1.0
    for step in range(1, _MOST_STEPS):
        term *= x / (a + step)
        total += term
        if term < total * _EPSILON:
            return total
    raise ArithmeticError(f"the incomplete gamma function of {a} at {x} does not converge")


def _fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1 / _TINY
    found = d = 1 / _kept_off_zero(b)
    for step in range(1, _MOST_STEPS):
        numerator = -step * (step - a)
        b += 2
        d = 1 / _kept_off_zero(numerator * d + b)
        c = _kept_off_zero(b + numerator / c)
        change = c * d
        found *= change
        if abs(change - 1) < _EPSILON:
            return found
    raise ArithmeticError(f"the incomplete gamma function of {a} at {x} does not converge")


def _kept_off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
