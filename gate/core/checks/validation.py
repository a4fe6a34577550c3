"""What is wrong with a check, found before anything is asked or applied."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from gate.core.checks import query_variables
from gate.core.checks.spec import (
    SHORTEST_INTERVAL_SECONDS,
    Bounds,
    Check,
    Command,
    Http,
    Metric,
    Reduce,
)

Fault = tuple[str, bool]
"""A complaint, and whether it applies."""

NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ -]{0,61}[A-Za-z0-9])?", re.ASCII)


def faults(check: Check) -> tuple[str, ...]:
    """Return what is wrong with a check, one line each; empty if nothing is."""
    wrong: list[str] = []
    if NAME.fullmatch(check.name) is None:
        wrong.append(f"not a check's name: {check.name[:60]!a}")
    wrong += [text for text, bad in _figures(check) if bad]
    variables = check.user_variables.items()
    wrong += filter(None, (query_variables.user_variable_fault(*pair) for pair in variables))
    match check.probe:
        case Metric() as metric:
            wrong += [text for text, bad in _metric_faults(metric) if bad]
        case Http() as http:
            wrong += [text for text, bad in _http_faults(http) if bad]
        case Command() as command:
            wrong += [text for text, bad in _command_faults(command) if bad]
    return tuple(wrong)


def _figures(check: Check) -> Iterator[Fault]:
    schedule, bears = check.schedule, check.tolerances
    short = not SHORTEST_INTERVAL_SECONDS <= schedule.interval_seconds < math.inf
    yield f"interval must be {SHORTEST_INTERVAL_SECONDS:g}s or more", short
    yield "initial_delay must be 0s or more", not 0 <= schedule.initial_delay_seconds < math.inf
    yield "count must be 1 or more", _below(schedule.count, 1)
    yield "allowed_failures must be 0 or more", bears.allowed_failures < 0
    yield "consecutive_failures must be 1 or more", _below(bears.consecutive_failures, 1)
    both = bool(bears.allowed_failures) and bears.consecutive_failures is not None
    yield "either allowed_failures or consecutive_failures, not both", both
    errors = bears.allowed_consecutive_errors
    yield "allowed_consecutive_errors must be 0 or more", errors < 0
    yield "allowed_no_data must be 0 or more", _below(bears.allowed_no_data, 0)
    yield "min_passes must be 1 or more", bears.min_passes < 1
    never = schedule.count is not None and bears.min_passes > schedule.count
    yield "min_passes is more than count: it could never pass", never
    yield "max_age must be more than 0s", not check.max_age_seconds > 0


def _metric_faults(metric: Metric) -> Iterator[Fault]:
    yield from _bounds_faults(metric.bounds)
    nothing = not metric.bounds and metric.compare is None
    yield "has no bounds: give min, max or compare", nothing
    yield "window must be 1s or more", not 1 <= metric.window_seconds < math.inf
    least = metric.min_samples.least if metric.min_samples else 1.0
    yield "min_samples needs a bound above 0", not 0 < least < math.inf
    if metric.compare is not None:
        names = metric.query.names & query_variables.OF_ONE_VERSION
        both = "compare needs a query that names ${replicaset} or ${pod_template_hash}"
        yield both, not names
        each = metric.reduce in (Reduce.ALL, Reduce.ANY)
        yield "compare needs one number a side: reduce by max, min, sum or avg", each
        yield from metric.compare.faults()


def _http_faults(http: Http) -> Iterator[Fault]:
    yield from _bounds_faults(http.bounds)
    low, high = http.status
    yield "status must be from 100 to 599", not 100 <= low <= high <= 599  # noqa: PLR2004 - HTTP
    slow = http.max_latency_seconds
    yield "max_latency must be more than 0s", slow is not None and not slow > 0
    asked = http.question
    yield "json path has no bounds: give min or max", bool(asked.json_path) and not http.bounds
    yield "bounds need a json path", bool(http.bounds) and not asked.json_path
    unread = asked.method == "HEAD" and bool(asked.contains or asked.json_path)
    yield "HEAD has no body to look into", unread
    yield "timeout must be more than 0s", not 0 < asked.timeout_seconds < math.inf


def _command_faults(command: Command) -> Iterator[Fault]:
    words = command.arguments
    yield "has no command", not words or not words[0]
    yield "a command's words cannot hold NUL", any("\0" in word for word in words)
    yield "timeout must be more than 0s", not 0 < command.timeout_seconds < math.inf


def _bounds_faults(bounds: Bounds) -> Iterator[Fault]:
    ends = [end for end in (bounds.least, bounds.most) if end is not None]
    yield "min and max must be finite numbers", not all(map(math.isfinite, ends))
    yield "min is more than max: nothing could pass", ends != sorted(ends)


def _below(value: int | None, least: int) -> bool:
    return value is not None and value < least
