"""The course of an attempt: what a chart needs, and no more of it than it needs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from gate.core.attempt.state import Attempt
from gate.core.checks.measurement import Kind, Measurement
from gate.core.checks.query_template import Query
from gate.core.checks.run import CheckRun
from gate.core.checks.spec import Bounds, Check, Metric
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import CleanText
from gate.report.document.comparisons import MOST_LOOKS
from gate.report.document.course import MOST_SAMPLES, RESOLUTION_SECONDS, Course
from gate.report.document.samples import history
from gate.report.schema.course import PodCounts, PodHistory
from tests.unit.core.checks.count_looks import counts, steady
from tests.unit.report.endings import ENDINGS, ReportPlayer, crashed, run_of, under_way
from tests.unit.report.results import COMPARED

NONE: PodCounts = {"ready": 0, "starting": 0, "failing": 0, "terminating": 0}


def pods_of(player: ReportPlayer) -> PodHistory:
    """Return the history of an attempt's only Deployment."""
    (found,) = history((), (), run_of(player))["pods"]
    return found


@pytest.mark.contract("B566")
def test_the_new_version_stays_the_new_one_on_the_way_back() -> None:
    """Each leg has its clocks, and minutes without a change are one sample."""
    found = pods_of(ENDINGS["never-ready"]())
    forward, back = found["legs"]
    assert (forward["leg"], forward["at_seconds"], back["leg"]) == ("forward", 1.5, "back")
    assert back["at_seconds"] > 600
    assert (forward["progress_deadline_seconds"], forward["total_seconds"]) == (600, 1200.0)
    last = found["samples"][-1]
    assert (last["new"], last["old"]["ready"]) == (NONE, 4)
    assert len(found["samples"]) < 12
    kept = [{**sample, "at_seconds": 0.0} for sample in found["samples"]]
    assert all(one != other for one, other in itertools.pairwise(kept))


@pytest.mark.contract("B566")
def test_moments_close_together_are_one() -> None:
    """A thousand pods that change within a moment are counted twice, not a thousand times."""
    attempt = under_way().attempt
    course = Course()
    counted = 0
    for step in range(1000):
        before = course.sampled_at
        at = attempt.now + step * RESOLUTION_SECONDS / 900
        course = course.after_step(replace(attempt, now=at))
        counted += course.sampled_at != before
    assert counted <= 3


@pytest.mark.contract("B566")
def test_a_long_course_is_thinned_out() -> None:
    """Its first moment and its last two are kept, and it never goes beyond its bound."""
    attempt = under_way().attempt
    (ref,) = attempt.workloads.rollouts
    course = Course()
    for step in range(5 * MOST_SAMPLES):
        course = course.after_step(_wanting(attempt, step))
        assert len(course.pods[ref]) <= MOST_SAMPLES
    times = [at for at, _ in course.pods[ref]]
    assert times[0] == attempt.now
    assert times[-1] == attempt.now + 5 * MOST_SAMPLES - 1
    assert times == sorted(times)


def _wanting(attempt: Attempt, step: int) -> Attempt:
    """Return the attempt `step` seconds later, with as many pods wanted."""
    (ref,) = attempt.workloads.rollouts
    rollout = attempt.workloads.rollouts[ref]
    live = rollout.snapshot.live
    assert live is not None
    snapshot = replace(rollout.snapshot, workload=Known(replace(live, replicas=step)))
    rollouts = attempt.workloads.rollouts.put(ref, replace(rollout, snapshot=snapshot))
    return replace(
        attempt, now=attempt.now + step, workloads=replace(attempt.workloads, rollouts=rollouts)
    )


@pytest.mark.contract("B566")
def test_failures_outlast_passes_where_measurements_are_too_many() -> None:
    """What speaks against a version is what a reader looks for."""
    check = Check("errors", Metric(Query.parse("errors", frozenset()), Bounds(most=1.0)))
    attempt = under_way().attempt
    run = CheckRun.start(check, attempt.now)
    course = Course()
    for step in range(1, 4 * MOST_SAMPLES):
        kind = Kind.FAIL if step % 40 == 0 else Kind.PASS
        what = Measurement(kind, CleanText("x"), float(step) if step > 1 else math.inf)
        measured = replace(run, last=what, last_at=attempt.now + step)
        checks = FrozenMap({check.name: measured})
        course = course.after_step(replace(attempt, health=replace(attempt.health, checks=checks)))
    found = course.measured["errors"]
    assert len(found) <= MOST_SAMPLES
    assert len([what for _, what in found if what.kind is Kind.FAIL]) == 4 * MOST_SAMPLES // 40 - 1
    rows = [COMPARED]
    shown = history([check], rows, replace(run_of(under_way()), course=course))["checks"]
    assert shown[0]["comparison"] is None
    assert (shown[0]["least"], shown[0]["most"]) == (None, 1.0)
    assert shown[0]["samples"][-1]["value"] == 4.0 * MOST_SAMPLES - 1
    assert shown[0]["samples"][0]["value"] is None, "JSON has no infinity"


@pytest.mark.contract("B1210")
def test_a_long_comparison_is_thinned_out() -> None:
    """Of 500 looks the first, the one that decided and the last are kept, with their intervals."""
    check = counts()
    attempt, course = under_way().attempt, Course()
    run, decided = CheckRun.start(check, attempt.now), 0.0
    for look in range(1, 500):
        run = steady(run, 1, (1, 100), (1, 100))
        if not decided and run.counts is not None and run.counts.passed:
            decided = run.last_at
        course = _after(course, attempt, run, look)
    found = course.compared[check.name]
    ticks = [look.evidence.ticks for look in found.looks]
    assert len(ticks) <= MOST_LOOKS
    assert (ticks[0], ticks[-1]) == (1, 498)
    assert found.decided_at == decided
    assert decided in [look.at for look in found.looks]
    assert found.looks[-1].low < 1 < found.looks[-1].high < 1.5
    run_at_the_end = replace(run_of(under_way()), course=course)
    row = {**COMPARED, "name": check.name, "verdict": "pass"}
    (shown,) = history([check], [row], run_at_the_end)["checks"]  # type: ignore[list-item]
    comparison = shown["comparison"]
    assert comparison is not None
    assert (comparison["tolerated"], comparison["harm"]) == (1.25, 2.0)
    assert comparison["decided_at_seconds"] == pytest.approx(decided - 98.5)
    assert comparison["samples"][-1]["new"] == {"bad": 498.0, "total": 49800.0}
    end = COMPARED["comparison"]
    assert end is not None
    assert comparison["samples"][-1]["low"] == end["low"], "by the test of the end"
    row["verdict"] = "inconclusive"
    (shown,) = history([check], [row], run_at_the_end)["checks"]  # type: ignore[list-item]
    assert shown["comparison"] is not None
    assert shown["comparison"]["decided_at_seconds"] is None, "what it passed by is in doubt"
    row["verdict"] = "fail"
    (shown,) = history([check], [row], run_at_the_end)["checks"]  # type: ignore[list-item]
    comparison = shown["comparison"]
    assert comparison is not None
    last = comparison["samples"][-1]["at_seconds"]
    assert comparison["decided_at_seconds"] == last, "no look failed it but the last one of the end"


@pytest.mark.contract("B1210")
def test_a_comparison_that_starts_again_has_the_looks_of_its_last_phase() -> None:
    """A check of the bake window alone begins with each window."""
    attempt, course = under_way().attempt, Course()
    first = steady(CheckRun.start(counts(), attempt.now), 12, (9, 100), (1, 100))
    course = _after(course, attempt, first, 1)
    assert course.compared["errors"].decided_at == first.last_at
    again = steady(CheckRun.start(counts(), attempt.now + 500), 4, (1, 100), (1, 100))
    course = _after(course, attempt, again, 2)
    found = course.compared["errors"]
    assert ([look.evidence.ticks for look in found.looks], found.decided_at) == ([3], None)


def _after(course: Course, attempt: Attempt, run: CheckRun, step: int) -> Course:
    """Return the course after a step in which the check had come that far."""
    checks = FrozenMap({run.check.name: run})
    health = replace(attempt.health, checks=checks)
    return course.after_step(replace(attempt, now=attempt.now + step, health=health))


@pytest.mark.contract("B566")
def test_both_versions_are_counted_by_state() -> None:
    """Before the write all pods are of the old version; what crashes is of the new one."""
    samples = pods_of(crashed())["samples"]
    assert samples[0]["at_seconds"] == 1.5
    assert (samples[0]["new"], samples[0]["old"]) == (NONE, {**NONE, "ready": 4})
    assert {"at_seconds": 2.5, "new": {**NONE, "failing": 2}}.items() <= {**samples[-2]}.items()
