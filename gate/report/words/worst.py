"""Which workload decided how an attempt ended: what a report is about first."""

from __future__ import annotations

from gate.core.model.outcome import Outcome
from gate.report.kinds.registry import of_entry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import is_innocent, is_unwritten
from gate.report.words.single_run import is_left_open


def rank_workloads(result: Result) -> list[WorkloadResult]:
    """Return the workloads in the order of a report: the one that decided, those that ended so."""
    worst, outcome = worst_workload(result), result["outcome"]
    return sorted(result["workloads"], key=lambda d: (d is not worst, d["outcome"] != outcome))


def worst_workload(result: Result) -> WorkloadResult | None:
    """Return the workload that decided how the attempt ended, None if it has none."""
    is_cut_off = result["outcome"] == Outcome.INTERRUPTED
    is_stuck = result["outcome"] == Outcome.ROLLBACK_FAILED
    ranked = sorted(
        result["workloads"],
        key=lambda d: (
            is_stuck and d["outcome"] != result["outcome"],
            not _has_failed_for_good(d),
            is_cut_off and not is_left_open(d),
            is_cut_off and is_unwritten(d),
            result["outcome"] == Outcome.FAILED and is_innocent(d),
            d["outcome"] != result["outcome"],
            d["reason"] != result["reason"],
            not d["evidence"],
            d["outcome"] == Outcome.REFUSED and is_unwritten(d),
            of_entry(d).runs_once,
        ),
    )
    return next(iter(ranked), None)


def _has_failed_for_good(workload: WorkloadResult) -> bool:
    """Tell whether it failed itself, and nothing takes back what it did."""
    is_own = workload["outcome"] == Outcome.FAILED and not is_innocent(workload)
    return is_own and of_entry(workload).runs_once
