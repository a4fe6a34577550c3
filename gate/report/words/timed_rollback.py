"""When a way back was written, and how it ended, in words."""

from __future__ import annotations

from gate.core.model.outcome import Outcome
from gate.duration import format_seconds
from gate.report.schema.result import Result, RollbackResult
from gate.report.words.fault import why_unverified
from gate.report.words.unfinished import describe_writing, has_written


def describe_rollback(result: Result, rollback: RollbackResult) -> str:
    """Say when a way back was written, and how long after that it ended, and how."""
    took = format_seconds(rollback["duration_seconds"] - rollback["written_after_seconds"])
    written = describe_writing(result, rollback)
    if not has_written(result, rollback):
        return f"{written} within {took}"
    end = _rollback_end(result, rollback)
    is_at_once = rollback["verified"] and took == format_seconds(0)
    return f"{written}, {end} {'at once' if is_at_once else f'after {took}'}"


def _rollback_end(result: Result, rollback: RollbackResult) -> str:
    """Say how a way back ended; if no workload has a pod, nothing was shown to work."""
    returned = [one for one in result["workloads"] if one["outcome"] == Outcome.ROLLED_BACK]
    if not rollback["verified"]:
        alone = result["outcome"] == Outcome.ROLLED_BACK and not returned
        ends = {one["outcome"] for one in result["workloads"]}
        if {Outcome.ROLLBACK_FAILED, Outcome.ROLLED_BACK} <= ends:
            return "not all of it verified"
        return "configuration alone" if alone else "not verified"
    empty = bool(returned) and all(one["running"] == "none" for one in returned)
    is_as_before = any(map(why_unverified, returned))
    return "complete without a pod" if empty else "complete" if is_as_before else "verified"
