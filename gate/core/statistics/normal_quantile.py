"""Quantiles of the normal distribution: where searches for other quantiles begin."""

from __future__ import annotations

import math
from typing import Final

_MEDIAN: Final = 0.5


def approximate_normal_quantile(probability: float) -> float:
    """Return it to about 0.003, by Abramowitz and Stegun 26.2.22; `probability` is in (0, 1)."""
    root = math.sqrt(-2 * math.log(min(probability, 1 - probability)))
    found = root - (2.30753 + 0.27061 * root) / (1 + 0.99229 * root + 0.04481 * root * root)
    return found if probability > _MEDIAN else -found
