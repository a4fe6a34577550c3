"""How far apart samples of a Mann-Whitney test lie, so that no two windows overlap.

The test assumes that its samples are independent. Two windows that overlap count the same requests
twice: six samples a window reject equal versions in more than a quarter of all rollouts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from gate.core.checks.baseline_comparison import LEAST_SAMPLES, MannWhitney
from gate.core.checks.query_template import strip_text
from gate.core.checks.spec import Check, Metric

_ROUNDING_SECONDS: Final = 1e-6
_RANGE: Final = re.compile(r"\[\s*([0-9a-z.]+)\s*(:?)[^\[\]]*\]", re.ASCII)
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[smhdwy]|$)", re.ASCII)
_UNIT_SECONDS: Final = {
    "ms": 0.001,
    "": 1.0,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 604_800.0,
    "y": 31_536_000.0,
}


def sample_test(check: Check) -> MannWhitney | None:
    """Return the test over the samples of a phase; None if a check has none."""
    compare = check.probe.compare if isinstance(check.probe, Metric) else None
    return compare if isinstance(compare, MannWhitney) else None


def sample_spacing_seconds(check: Check) -> float:
    """Return the least time between two samples: the window, or a longer range of the query."""
    if not isinstance(check.probe, Metric):
        return 0.0
    metric = check.probe
    known = {**check.user_variables, "window": f"{metric.window_seconds:g}s"}
    text = "".join(
        part if isinstance(part, str) else known.get(part.name, "") for part in metric.query.parts
    )
    return max(metric.window_seconds, lookback_seconds(text))


def overlaps(check: Check, sampled_at: float, at: float) -> bool:
    """Tell whether the window that ends `at` overlaps the one that ended at `sampled_at`."""
    return at - sampled_at < sample_spacing_seconds(check) - _ROUNDING_SECONDS


def least_sampling_seconds(check: Check) -> float:
    """Return how long after its phase's start a test has enough samples; 0.0 without a test.

    Samples lie on the check's grid: with an interval of 40 s and a window of 60 s, 80 s apart.

    """
    if sample_test(check) is None:
        return 0.0
    step = check.schedule.interval_seconds
    ticks = math.ceil((sample_spacing_seconds(check) - _ROUNDING_SECONDS) / step)
    return check.schedule.initial_delay_seconds + (LEAST_SAMPLES - 1) * max(1, ticks) * step


def lookback_seconds(query: str) -> float:
    """Return how far a query looks back: its longest range, within its longest subquery."""
    plain, subqueries = [0.0], [0.0]
    for match in _RANGE.finditer(strip_text(query)):
        (subqueries if match[2] else plain).append(sum(_durations(match[1])))
    return max(plain) + max(subqueries)


def _durations(text: str) -> Iterator[float]:
    """Yield the parts of a duration of PromQL in seconds; a plain number is seconds, too."""
    for number, unit in _PART.findall(text):
        yield float(number) * _UNIT_SECONDS[unit]
