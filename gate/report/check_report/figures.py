"""A check in few words: its source, its bounds, its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.spec import Check, Command, ComparedPods, Counts, Http, Metric
from gate.duration import format_seconds
from gate.report.schema.check_result import Source

_EXACT: Final = 1e15


def source_of(check: Check) -> Source:
    """Return the name of the source that a check asks."""
    match check.probe:
        case Metric() | Counts():
            return "prometheus"
        case Http():
            return "http"
        case Command():
            return "command"


def bounds_of(check: Check) -> str:
    """Return what a good answer is, in few words."""
    match check.probe:
        case Metric() as metric:
            compared = [comparison_of(metric)] if metric.compare is not None else []
            own = [str(metric.bounds)] if metric.bounds else []
            return ", ".join([*own, *compared])
        case Counts(rule=rule, compared_pods=pods):
            fresh = " of fresh pods" if pods is ComparedPods.FRESH else ""
            return f"old{fresh} + {rule.tolerance:.0%}, by counts"
        case Http() as http:
            return ", ".join(_http_bounds(http))
        case Command():
            return "exit 0"


def comparison_of(metric: Metric) -> str:
    """Return what a comparison tolerates; "" if there is none."""
    match metric.compare:
        case Ratio(max_ratio=ratio, min_delta=delta):
            more = f" + {delta:g}" if delta else ""
            return f"<= {ratio:g} x old{more}"
        case MannWhitney(alpha=alpha, tolerance=tolerance):
            return f"old + {tolerance:.0%}, alpha {alpha:g}"
        case None:
            return ""


def _http_bounds(http: Http) -> Iterator[str]:
    low, high = http.status
    yield f"{low}" if low == high else f"{low}-{high}"
    if http.max_latency_seconds is not None:
        yield f"<= {format_seconds(http.max_latency_seconds)}"
    if http.bounds:
        yield str(http.bounds)


def finite(value: float | None) -> float | None:
    """Return a number that JSON can hold, None for any other."""
    return value if value is not None and math.isfinite(value) else None


def number(value: float) -> str:
    """Return a sample's value as PromQL writes it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < _EXACT else f"{value:.6g}"
