"""The regularised incomplete beta function and its inverse: exact tails of binomial counts.

A count with `a` of `a + b` events has a tail of at least `a` with the probability
`beta_probability(a, b + 1, share)`; fractions are allowed. By Lentz's continued fraction (DLMF
8.17.22); the front is a density by its deviance, for the digits of large counts.
"""

from __future__ import annotations

import math
from typing import Final

from gate.core.statistics.normal_quantile import approximate_normal_quantile
from gate.core.statistics.saddle_point import deviance, stirling_error

_TINY: Final = 1e-300
_EPSILON: Final = 1e-16
_MOST_STEPS: Final = 200_000
_CLOSE: Final = 1e-7
"""The step after one of that relative length would change nothing."""
_MOST_TRIALS: Final = 200
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
    """Return the `x` at which `beta_probability(a, b, x)` is `probability`; 0 if `a` is 0.

    By Halley's method, which triples the right digits with each step, between bounds that close in.
    """
    if a == 0 or probability <= 0:
        return 0.0
    if b == 0 or probability >= 1:
        return 1.0
    low, high = 0.0, 1.0
    at = _approximate_quantile(a, b, probability)
    for _ in range(_MOST_TRIALS):
        miss = beta_probability(a, b, at) - probability
        if miss == 0:
            return at
        low, high = (at, high) if miss < 0 else (low, at)
        step = _halley_step(a, b, at, miss)
        if abs(step) <= _CLOSE * min(at, 1 - at):
            return at - step
        at = at - step if low < at - step < high else (low + high) / 2
    return at


def _halley_step(a: float, b: float, at: float, miss: float) -> float:
    """Return how far Halley's method goes, NaN where the density vanishes."""
    density = _front(a, b, at) / (at * (1 - at))
    if density <= 0:
        return math.nan
    newton = miss / density
    curvature = (a - 1) / at - (b - 1) / (1 - at)
    return newton / (1 - 0.5 * max(-1.0, min(1.0, newton * curvature)))


def _approximate_quantile(a: float, b: float, probability: float) -> float:
    """Return where to begin: Abramowitz and Stegun 26.5.22; the mean for small counts."""
    if a <= 1 or b <= 1:
        return a / (a + b)
    normal = -approximate_normal_quantile(probability)
    of_a, of_b = 1 / (2 * a - 1), 1 / (2 * b - 1)
    h, skew = 2 / (of_a + of_b), (normal * normal - 3) / 6
    if h + skew <= 0:
        return a / (a + b)
    w = normal * math.sqrt(h + skew) / h - (of_b - of_a) * (skew + 5 / 6 - 2 / (3 * h))
    return a / (a + b * math.exp(2 * w))


def _front(a: float, b: float, x: float) -> float:
    """Return x^a (1 - x)^b / B(a, b)."""
    n = a + b
    far = deviance(a, n * x) + deviance(b, n * (1 - x))
    errors = stirling_error(n) - stirling_error(a) - stirling_error(b)
    return math.exp(errors - far + 0.5 * (math.log(a) + math.log(b) - math.log(n) - _LOG_TWO_PI))


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction by the modified method of Lentz."""
    c, d = 1.0, 1 / _keep_off_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_STEPS):
        at = a + 2 * m
        even = m * (b - m) * x / ((at - 1) * at)
        odd = -(a + m) * (a + b + m) * x / (at * (at + 1))
        change = 0.0
        for term in (even, odd):
            d, c = 1 + term * d, 1 + term / c
            # Called only where it matters: this loop is what a look costs.
            if -_TINY <= d <= _TINY or -_TINY <= c <= _TINY:
                d, c = _keep_off_zero(d), _keep_off_zero(c)
            d = 1 / d
            change = d * c
            found *= change
        if abs(change - 1) < _EPSILON * 4:
            return found
    raise ArithmeticError(f"the incomplete beta function of {a}, {b} at {x} does not converge")


def _keep_off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
