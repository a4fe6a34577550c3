"""The course of an attempt as the document has it: plain numbers, seconds since the start."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gate.core.checks.measurement import Measurement
from gate.core.checks.run import ConclusionKind
from gate.core.checks.spec import Bounds, Check, Http, Metric
from gate.core.checks.spec import Counts as ByCounts
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.report.check_report.figures import finite
from gate.report.document.comparisons import ComparisonCourse, Look
from gate.report.document.course import Counts, Pods
from gate.report.document.run import Run
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.course import (
    CheckHistory,
    CheckSample,
    ComparisonHistory,
    ComparisonSample,
    History,
    LegResult,
    PodCounts,
    PodHistory,
    PodSample,
)

_DECIDED = (ConclusionKind.PASS, ConclusionKind.FAIL)


def history(checks: Sequence[Check], rows: Sequence[CheckResult], run: Run) -> History:
    """Return the samples of each workload's pods, and of each of these checks, over time.

    `rows` say of each check how it ended.
    """
    return {
        "pods": [_pod_history(ref, run) for ref in run.course.pods],
        "checks": [
            _check_history(check, row, run) for check, row in zip(checks, rows, strict=True)
        ],
    }


def _pod_history(ref: Ref, run: Run) -> PodHistory:
    return {
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "legs": [leg for each in Leg for leg in _leg(ref, each, run)],
        "samples": [_pod_sample(at, pods, run) for at, pods in run.course.pods[ref]],
    }


def _leg(ref: Ref, leg: Leg, run: Run) -> Iterable[LegResult]:
    budget = run.course.budgets.get((ref, leg))
    if budget is not None:
        yield {
            "leg": "back" if leg is Leg.BACK else "forward",
            "at_seconds": run.times.seconds_at(budget.from_at),
            "total_seconds": budget.total_seconds,
            "progress_deadline_seconds": budget.deadline_seconds,
        }


def _pod_sample(at: float, pods: Pods, run: Run) -> PodSample:
    since = pods.progressed_at
    return {
        "at_seconds": run.times.seconds_at(at),
        "wanted": pods.wanted,
        "new": _counts(pods.new),
        "old": _counts(pods.old),
        "progressed_at_seconds": run.times.seconds_at(since) if since is not None else None,
    }


def _counts(counts: Counts) -> PodCounts:
    return {
        "ready": counts.ready,
        "starting": counts.starting,
        "failing": counts.failing,
        "terminating": counts.terminating,
    }


def _check_history(check: Check, row: CheckResult, run: Run) -> CheckHistory:
    bounds = _bounds(check)
    measured = run.course.measured.get(check.name, ())
    return {
        "name": check.name,
        "least": bounds.least,
        "most": bounds.most,
        "samples": [_check_sample(at, what, run) for at, what in measured],
        "comparison": _comparison_history(check, row, run),
    }


def _comparison_history(check: Check, row: CheckResult, run: Run) -> ComparisonHistory | None:
    """Return the looks; the last has the interval by which the phase ended, if it has."""
    course, end = run.course.compared.get(check.name), row["comparison"]
    if not isinstance(check.probe, ByCounts) or end is None or course is None or not course.looks:
        return None
    decided_at = _find_decision(course, row["verdict"])
    samples = [_comparison_sample(look, run) for look in course.looks]
    samples[-1] |= {"low": end["low"], "high": end["high"]}
    return {
        "tolerated": check.probe.rule.tolerated,
        "harm": check.probe.rule.harm,
        "negligible": check.probe.rule.negligible,
        "decided_at_seconds": None if decided_at is None else run.times.seconds_at(decided_at),
        "samples": samples,
    }


def _find_decision(course: ComparisonCourse, verdict: str) -> float | None:
    """Return when it was decided, None if it was not; what no look decided, its last one did."""
    if verdict == ConclusionKind.INCONCLUSIVE:
        return None
    is_late = verdict == ConclusionKind.FAIL and not course.has_failed
    is_late = is_late or (course.decided_at is None and verdict in _DECIDED)
    return course.looks[-1].at if is_late else course.decided_at


def _comparison_sample(look: Look, run: Run) -> ComparisonSample:
    new, old = look.evidence.new, look.evidence.old
    return {
        "at_seconds": run.times.seconds_at(look.at),
        "new": {"bad": new.bad, "total": new.total},
        "old": {"bad": old.bad, "total": old.total},
        "ratio": look.evidence.compared.ratio,
        "low": look.low,
        "high": finite(look.high),
    }


def _bounds(check: Check) -> Bounds:
    match check.probe:
        case Metric(bounds=bounds) | Http(bounds=bounds):
            return bounds
        case _:
            return Bounds()


def _check_sample(at: float, what: Measurement, run: Run) -> CheckSample:
    known = what.value is not None and math.isfinite(what.value)
    return {
        "at_seconds": run.times.seconds_at(at),
        "verdict": what.kind.value,
        "value": what.value if known else None,
    }
