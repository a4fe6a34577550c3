"""The regularised incomplete beta function and its inverse: exact tails of binomial counts.

A count with `a` of `a + b` events has a tail of at least `a` with the probability
`beta_probability(a, b + 1, share)`; fractions are allowed. By Lentz's continued fraction (DLMF
8.17.22); the front is a density by its deviance, for the digits of large counts.
"""

from __future__ import annotations

import math
from typing import Final

from gate.core.statistics.saddle_point import deviance, stirling_error

_TINY: Final = 1e-300
_EPSILON: Final = 1e-16
_MOST_STEPS: Final = 200_000
_BISECTIONS: Final = 200
_LOG_TWO_PI: Final = math.log(2 * math.pi)


def beta_probability(a: float, b: float, x: float) -> float:
    """Return I_x(a, b), the probability that a Beta(a, b) variable is at most `x`.

    `a` and `b` are finite and not negative, and not both 0; of a count of 0 all mass is at its end.
    """
    if not (a >= 0 and b >= 0 and a + b > 0 and math.isfinite(a + b)):
        raise ValueError(f"no beta distribution: {a}, {b}")
    if x >= 1 or a == 0:
        return 1.0 if x >= 0 else 0.0
    if x <= 0 or b == 0:
        return 0.0
    if x <= (a + 1) / (a + b + 2):
        return min(1.0, _front(a, b, x) * _fraction(a, b, x) / a)
    return max(0.0, 1.0 - _front(b, a, 1 - x) * _fraction(b, a, 1 - x) / b)


def beta_quantile(a: float, b: float, probability: float) -> float:
    """Return the `x` at which `beta_probability(a, b, x)` is `probability`; 0 if `a` is 0."""
    if a == 0 or probability <= 0:
        return 0.0
    if b == 0 or probability >= 1:
        return 1.0
    low, high = 0.0, 1.0
    at = a / (a + b)
    for _ in range(_BISECTIONS):
        miss = beta_probability(a, b, at) - probability
        if miss == 0:
            return at
        low, high = (at, high) if miss < 0 else (low, at)
        slope = _front(a, b, at) / (at * (1 - at)) if at < 1 else 0.0
        better = at - miss / slope if slope > 0 else math.nan
        following = better if low < better < high else (low + high) / 2
        if abs(following - at) <= _EPSILON * at:
            return following
        at = following
    return at


def _front(a: float, b: float, x: float) -> float:
    """Return x^a (1 - x)^b / B(a, b)."""
    n = a + b
    far = deviance(a, n * x) + deviance(b, n * (1 - x))
    errors = stirling_error(n) - stirling_error(a) - stirling_error(b)
    return math.exp(errors - far + 0.5 * (math.log(a) + math.log(b) - math.log(n) - _LOG_TWO_PI))


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction by the modified method of Lentz."""
    c, d = 1.0, _reciprocal(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = _reciprocal(1 + even * d), _kept_off_zero(1 + even / c)
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = _reciprocal(1 + odd * d), _kept_off_zero(1 + odd / c)
        change = d * c
        found *= change
        if abs(change - 1) < _EPSILON * 4:
            return found
    raise ArithmeticError(f"the incomplete beta function of {a}, {b} at {x} does not converge")


def _reciprocal(value: float) -> float:
    return 1 / _kept_off_zero(value)


def _kept_off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
