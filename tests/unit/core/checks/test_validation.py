"""What is wrong with a check is found before anything is asked."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import Bounds, Command, Http, Metric, Reduce, Schedule
from gate.core.checks.validation import faults
from gate.core.model.body import FrozenMap
from tests.unit.core.checks_world import a_check, metric, min_samples, query

HTTP = HttpQuestion("https://web.example/health")


def test_good_checks_have_no_faults() -> None:
    """Of each source, with all that can be said."""
    full = metric(0.0, 1.0, reduce=Reduce.MAX, min_samples=min_samples(1), compare=Ratio(1.5))
    assert faults(a_check(full, consecutive_failures=2)) == ()
    assert faults(a_check(Http(replace(HTTP, json_path=("a",)), bounds=Bounds(1.0)))) == ()
    assert faults(a_check(Command(("true",)))) == ()


@pytest.mark.contract("B432")
@pytest.mark.parametrize(
    ("probe", "fault"),
    [
        (metric(None, None), "has no bounds"),
        (metric(2.0, 1.0), "min is more than max"),
        (metric(math.nan, None), "finite"),
        (metric(None, math.inf), "finite"),
        (metric(window_seconds=0.5), "window must be"),
        (metric(window_seconds=math.inf), "window must be"),
        (metric(min_samples=min_samples(0)), "min_samples needs"),
        (Metric(query("up"), compare=Ratio(1.5)), "names ${replicaset} or"),
        (metric(compare=Ratio(1.5), reduce=Reduce.ALL), "reduce by max"),
        (metric(compare=Ratio(0.9)), "max_ratio must be"),
        (metric(compare=Ratio(1.5, -1.0)), "min_delta must be"),
        (metric(compare=MannWhitney(alpha=0.0)), "alpha must be"),
        (metric(compare=MannWhitney(tolerance=math.nan)), "tolerance must be"),
        (Http(HTTP, status=(300, 200)), "status must be"),
        (Http(HTTP, max_latency_seconds=0.0), "max_latency must be"),
        (Http(HTTP, bounds=Bounds(1.0)), "bounds need a json path"),
        (Http(replace(HTTP, json_path=("a",))), "json path has no bounds"),
        (Http(replace(HTTP, method="HEAD", contains="ok")), "HEAD has no body"),
        (Http(replace(HTTP, timeout_seconds=0.0)), "timeout must be"),
        (Command(()), "has no command"),
        (Command(("a\0b",)), "NUL"),
        (Command(("a",), -1.0), "timeout must be"),
    ],
)
def test_a_probe_that_cannot_judge_is_named(probe: Any, fault: str) -> None:
    """One line for each fault."""
    assert [text for text in faults(a_check(probe)) if fault in text], faults(a_check(probe))


@pytest.mark.contract("B432")
@pytest.mark.parametrize(
    ("bears", "schedule", "fault"),
    [
        ({"allowed_failures": -1}, Schedule(), "allowed_failures must be"),
        ({"consecutive_failures": 0}, Schedule(), "consecutive_failures must be"),
        ({"allowed_failures": 1, "consecutive_failures": 1}, Schedule(), "either"),
        ({"allowed_consecutive_errors": -1}, Schedule(), "allowed_consecutive_errors"),
        ({"allowed_no_data": -1}, Schedule(), "allowed_no_data"),
        ({"min_passes": 0}, Schedule(), "min_passes must be"),
        ({"min_passes": 2}, Schedule(count=1), "could never pass"),
        ({"max_age_seconds": 0.0}, Schedule(), "max_age must be"),
        ({}, Schedule(0.5), "interval must be"),
        ({}, Schedule(math.nan), "interval must be"),
        ({}, Schedule(10.0, -1.0), "initial_delay must be"),
        ({}, Schedule(count=0), "count must be"),
    ],
)
def test_a_figure_out_of_range_is_named(
    bears: dict[str, Any], schedule: Schedule, fault: str
) -> None:
    """One line for each fault."""
    found = faults(a_check(schedule=schedule, **bears))
    assert [text for text in found if fault in text], found


@pytest.mark.contract("B432")
def test_all_faults_are_named_at_once() -> None:
    """The name's and those of variables too."""
    check = replace(
        a_check(metric(None, None), Schedule(0.5)),
        name="::error::",
        user_variables=FrozenMap({"window": "1"}.items()),
    )
    assert len(faults(check)) == 4
