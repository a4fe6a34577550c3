"""Write checks as a file would hold them: for recordings, and to compare by eye."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.json_path import JsonPath
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import (
    Bounds,
    Check,
    Command,
    Counts,
    Http,
    Metric,
    Schedule,
    Tolerances,
)
from gate.core.statistics.count_decision import CountRule

Said = Iterator[tuple[str, Any, Any]]
"""A key, its value, and the default, which is left out."""


def as_configuration(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Return the equivalent list `checks` of a file, as JSON can hold it.

    Defaults are left out, except for the interval, which an option can change. Ready-made checks
    are queries here. It holds no secrets: credentials are not part of a check.
    """
    return [_check(check) for check in checks]


def _check(check: Check) -> dict[str, Any]:
    interval = {"interval": check.schedule.interval_seconds}
    return {"name": check.name, **_probe(check), **interval, **_differing(_rest(check))}


def _probe(check: Check) -> dict[str, Any]:
    match check.probe:
        case Metric() as metric:
            return _differing(_metric(metric))
        case Counts() as counts:
            return _differing(_counts(counts))
        case Http() as http:
            return {"http": _differing(_http(http))}
        case Command() as command:
            return _differing(_command(command))


def _differing(said: Said) -> dict[str, Any]:
    return {key: value for key, value, default in said if value != default}


def _metric(metric: Metric) -> Said:
    yield "query", metric.query.text, None
    yield from _bounds(metric.bounds)
    yield "reduce", metric.reduce and metric.reduce.value, None
    yield "window", metric.window_seconds, Metric(metric.query).window_seconds
    few = metric.min_samples
    yield "min-samples", few and {"query": few.query.text, "min": few.least}, None
    yield "freshness", metric.freshness and metric.freshness.text, None
    yield "compare", metric.compare and _comparison(metric.compare), None


def _counts(counts: Counts) -> Said:
    usual, rule, usual_rule = Counts(counts.bad, counts.total), counts.rule, CountRule()
    yield "bad", counts.bad.text, None
    yield "total", counts.total.text, None
    how = {
        "tolerance": (rule.tolerance, usual_rule.tolerance),
        "harm": (rule.harm, usual_rule.harm),
        "negligible": (rule.negligible, usual_rule.negligible),
        "min-delta": (rule.min_delta, usual_rule.min_delta),
        "alpha": (rule.alpha, usual_rule.alpha),
        "baseline": (counts.compared_pods.value, usual.compared_pods.value),
    }
    changed = {key: value for key, (value, default) in how.items() if value != default}
    yield "compare", {"test": "counts", **changed}, None
    yield "warm-up", counts.warm_up_seconds, usual.warm_up_seconds
    yield "scrape-interval", counts.scrape_seconds, usual.scrape_seconds


def _command(command: Command) -> Said:
    usual = Command(command.arguments)
    yield "command", list(command.arguments), None
    yield "timeout", command.timeout_seconds, usual.timeout_seconds


def _bounds(bounds: Bounds) -> Said:
    yield "min", bounds.least, None
    yield "max", bounds.most, None


def _comparison(how: Ratio | MannWhitney) -> dict[str, Any]:
    if isinstance(how, MannWhitney):
        return {"test": "mann-whitney", "alpha": how.alpha, "tolerance": how.tolerance}
    return {"max-ratio": how.max_ratio, "min-delta": how.min_delta}


def _http(http: Http) -> Said:
    asked, usual = http.question, HttpQuestion("")
    low, high = http.status
    yield "url", asked.url, None
    yield "method", asked.method, usual.method
    yield "status", f"{low}-{high}", "200-299"
    yield "max-latency", http.max_latency_seconds, None
    yield "contains", asked.contains, usual.contains
    yield "json-path", _path(asked.json_path), ""
    yield from _bounds(http.bounds)
    yield "redirects", asked.redirects, usual.redirects
    yield "timeout", asked.timeout_seconds, usual.timeout_seconds


def _path(path: JsonPath) -> str:
    """Return the path as text; no key holds a quote, since the parser takes none."""
    steps = (f"[{step}]" if isinstance(step, int) else f'["{step}"]' for step in path)
    return "$" + "".join(steps) if path else ""


def _rest(check: Check) -> Said:
    schedule, usual = check.schedule, Schedule()
    limits, default_limits = check.tolerances, Tolerances()
    if not isinstance(check.probe, Counts):
        yield "initial-delay", schedule.initial_delay_seconds, usual.initial_delay_seconds
    yield "count", schedule.count, usual.count
    yield "during", schedule.during.value, usual.during.value
    yield "allowed-failures", limits.allowed_failures, default_limits.allowed_failures
    yield "consecutive-failures", limits.consecutive_failures, default_limits.consecutive_failures
    yield (
        "allowed-consecutive-errors",
        limits.allowed_consecutive_errors,
        default_limits.allowed_consecutive_errors,
    )
    yield "allowed-no-data", limits.allowed_no_data, default_limits.allowed_no_data
    yield "min-passes", limits.min_passes, default_limits.min_passes
    yield "max-age", limits.max_age_seconds, default_limits.max_age_seconds
    yield "required", check.required, True
    yield "dry-run", check.dry_run, False
    yield "deployment", check.deployment, ""
    yield "variables", dict(check.user_variables), {}
