"""Make the core's checks of the keys of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.config.checks.keys import (
    AnyCheckKeys,
    CheckKeys,
    CommandKeys,
    CompareKeys,
    CountCompareKeys,
    CountKeys,
    HttpKeys,
    HttpQuestionKeys,
    QueryKeys,
    ReadyMadeCountKeys,
    ReadyMadeKeys,
)
from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import (
    Bounds,
    Check,
    Command,
    Counts,
    During,
    Http,
    Metric,
    MinSamples,
    Probe,
    Schedule,
    Tolerances,
)
from gate.core.model.body import FrozenMap
from gate.core.statistics.count_decision import CountRule
from gate.sources.ready_made import ReadyMade


def query_check(keys: QueryKeys, interval_seconds: float) -> Check:
    """Return the check of a query."""
    variables, few = keys.variables or FrozenMap(), keys.min_samples
    metric = Metric(
        query=keys.query,
        bounds=Bounds(keys.least, keys.most),
        reduce=keys.reduce,
        min_samples=MinSamples(few.query, few.least) if few else None,
        freshness=keys.freshness,
        compare=_comparison(keys.compare) if keys.compare else None,
        **_drop_unset(window_seconds=keys.window),
    )
    return _check(keys.name, metric, keys, interval_seconds, user_variables=variables)


def count_check(keys: CountKeys, interval_seconds: float) -> Check:
    """Return the comparison of counters; of a bake window the length is known."""
    how, variables = keys.compare, keys.variables or FrozenMap()
    rule = CountRule(
        known_length=keys.during is During.BAKE, **(_rule_keys(how) if how is not None else {})
    )
    counts = Counts(
        keys.bad,
        keys.total,
        rule,
        **_drop_unset(
            warm_up_seconds=keys.warm_up,
            scrape_seconds=keys.scrape_interval,
            compared_pods=how.baseline if how is not None else None,
        ),
    )
    schedule = Schedule(
        interval_seconds=interval_seconds if keys.interval is None else keys.interval,
        initial_delay_seconds=counts.warm_up_seconds + counts.scrape_seconds,
        **_drop_unset(during=keys.during),
    )
    tolerances = Tolerances(
        **_drop_unset(allowed_consecutive_errors=keys.allowed_consecutive_errors)
    )
    return Check(
        keys.name, counts, schedule, tolerances, user_variables=variables, **_deciding(keys)
    )


def _rule_keys(keys: CountCompareKeys) -> dict[str, Any]:
    return _drop_unset(
        tolerance=keys.tolerance,
        harm=keys.harm,
        negligible=keys.negligible,
        min_delta=keys.min_delta,
        alpha=keys.alpha,
    )


def http_check(keys: HttpKeys, interval_seconds: float) -> Check:
    """Return the check of a request."""
    asked = keys.http
    http = Http(
        question=_question(asked),
        bounds=Bounds(asked.least, asked.most),
        **_drop_unset(status=asked.status, max_latency_seconds=asked.max_latency),
    )
    return _check(keys.name, http, keys, interval_seconds)


def command_check(keys: CommandKeys, interval_seconds: float) -> Check:
    """Return the check of a program."""
    command = Command(keys.command, **_drop_unset(timeout_seconds=keys.timeout))
    return _check(keys.name, command, keys, interval_seconds)


def complete_keys(made: ReadyMade, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a check: those of the ready-made one, overridden by what is given.

    `min-samples` and `variables` are overridden key by key, a comparison as a whole.
    """
    changed = {key: value for key, value in given.items() if key not in ("use", "metrics", "pods")}
    for key in ("min-samples", "variables"):
        if key in changed:
            changed[key] = {**made.keys.get(key, {}), **changed[key]}
    return {"name": made.name, **made.keys, **changed}


def missing_variables(made: ReadyMade, keys: ReadyMadeKeys | ReadyMadeCountKeys) -> Iterator[str]:
    """Yield the variables that a ready-made check leaves to its user and that are not given."""
    return (name for name in made.keys.get("variables", {}) if name not in (keys.variables or {}))


def _check(name: str, probe: Probe, keys: CheckKeys, interval_seconds: float, **more: Any) -> Check:
    schedule = _drop_unset(
        interval_seconds=interval_seconds if keys.interval is None else keys.interval,
        initial_delay_seconds=keys.initial_delay,
        count=keys.count,
        during=keys.during,
    )
    tolerances = _drop_unset(
        allowed_failures=keys.allowed_failures,
        consecutive_failures=keys.consecutive_failures,
        allowed_consecutive_errors=keys.allowed_consecutive_errors,
        allowed_no_data=keys.allowed_no_data,
        min_passes=keys.min_passes,
        max_age_seconds=keys.max_age,
    )
    decides = _deciding(keys)
    return Check(name, probe, Schedule(**schedule), Tolerances(**tolerances), **decides, **more)


def _deciding(keys: AnyCheckKeys) -> dict[str, Any]:
    return _drop_unset(required=keys.required, dry_run=keys.dry_run, deployment=keys.deployment)


def _question(asked: HttpQuestionKeys) -> HttpQuestion:
    return HttpQuestion(
        asked.url,
        **_drop_unset(
            method=asked.method,
            contains=asked.contains,
            json_path=asked.json_path,
            redirects=asked.redirects,
            timeout_seconds=asked.timeout,
        ),
    )


def _comparison(keys: CompareKeys) -> Ratio | MannWhitney:
    if keys.test is not None:
        return MannWhitney(**_drop_unset(alpha=keys.alpha, tolerance=keys.tolerance))
    return Ratio(keys.max_ratio or 1.0, **_drop_unset(min_delta=keys.min_delta))


def _drop_unset(**values: Any) -> dict[str, Any]:
    """Return what has a value, so that the core's defaults apply to keys that are left out."""
    return {name: value for name, value in values.items() if value is not None}
