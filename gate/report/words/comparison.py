"""A comparison by counts in few words, for a person who looks at its plot."""

from __future__ import annotations

from gate.core.checks.count_run import describe_power
from gate.report.schema.check_verdict import ComparedResult, ComparisonResult, CountedResult


def counted_words(comparison: ComparisonResult) -> str:
    """Return what each version was asked, and how much of it was bad."""
    pods = len(comparison["fresh_pods"])
    fresh = f" ({pods} fresh pod{'' if pods == 1 else 's'})"
    old = f"old{fresh if comparison['baseline'] == 'fresh' else ''}"
    counted = f"new {_of(comparison['new'])} bad, {old} {_of(comparison['old'])} bad"
    compared = comparison["compared"]
    if compared is None or not compared["new"]["total"] or _is_all(compared, comparison):
        return counted
    return f"{counted}; while both served {_of(compared['new'])} against {_of(compared['old'])}"


def _is_all(compared: ComparedResult, comparison: ComparisonResult) -> bool:
    return (compared["new"], compared["old"]) == (comparison["new"], comparison["old"])


def ratio_words(comparison: ComparisonResult) -> str:
    """Return the ratio of the two rates and its interval, or why there is none."""
    ratio, low, high = comparison["ratio"], comparison["low"], comparison["high"]
    times = _why_no_ratio(comparison) if ratio is None else f"{ratio:.3g} times the old rate"
    if high is None:
        return f"{times}, likely at least {low:.3g}" if low else times
    return f"{times}, likely {low:.3g} to {high:.3g}"


def _why_no_ratio(comparison: ComparisonResult) -> str:
    for side, name in ((comparison["new"], "new"), (comparison["old"], "old")):
        if not side["total"]:
            return f"no ratio: the {name} version served nothing"
    compared = comparison["compared"]
    if compared is None or _is_all(compared, comparison):
        return "no ratio: the old version had no bad one"
    if not compared["new"]["total"]:
        return "no ratio: no look saw both versions"
    return "no ratio: the old version had no bad one while both served"


def detectable_words(comparison: ComparisonResult) -> str:
    """Return the least ratio that this traffic could have shown."""
    return describe_power(comparison["detectable"])


def _of(side: CountedResult) -> str:
    return f"{side['bad']:,.0f} of {side['total']:,.0f}"
