"""What of a way back was not done, or may not be done: a return, or what else answers a failure.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

from gate.core.model.outcome import Outcome
from gate.core.writes.failure_response import FailureResponse
from gate.report.schema.result import Result, RollbackResult, WorkloadResult
from gate.report.words.half_applied import is_written_back
from gate.report.words.moment import moment
from gate.report.words.object_names import list_own_objects

_RETURNS = ("", FailureResponse.RESTORE)


def is_undone_by_recovery(result: Result) -> bool:
    """Tell whether all that an `undo` was to undo is what an earlier run had left unfinished.

    It ends then with the result of that recovery, in which nothing was undone by a new attempt.
    """
    is_back = result["command"] == "undo" and result["outcome"] == Outcome.ROLLED_BACK
    is_recovery = all(one["undone"] is None for one in result["workloads"])
    return is_back and result["has_recovered"] and is_recovery


def find_undone_response(result: Result, workload: WorkloadResult) -> str:
    """Return `paused`, `scaled to zero` or `deleted` if that could not be done, else ""."""
    left = (item["was_to_be"] for item in list_own_objects(result, workload))
    return next((word for word in left if word not in _RETURNS), "")


def describe_recovery(result: Result) -> str:
    """Say what a recovery does: the one thing that could not be done, else the whole way back."""
    words = {item["was_to_be"] for item in result["objects"]} - {""}
    is_one_thing = len(words) == 1 and not words & {*_RETURNS}
    return f"have it {words.pop()}" if is_one_thing else "finish the rollback"


def describe_writing(result: Result, rollback: RollbackResult) -> str:
    """Say when the first write of a way back was done, as far as anything shows that one was."""
    if rollback["written_at"]:
        perhaps = "perhaps " if is_in_doubt(result) else ""
        return f"{perhaps}written at {moment(rollback['written_at'])}"
    return "written by another run" if has_written(result, rollback) else "not written"


def has_written(result: Result, rollback: RollbackResult) -> bool:
    """Tell whether any write of a way back was done, by this run or by an earlier one."""
    return bool(rollback["written_at"]) or is_written_back(result) or rollback["verified"]


def is_in_doubt(result: Result) -> bool:
    """Tell whether a way back may have been written, and nothing shows that any of it was."""
    actions = {item["action"] for item in result["objects"]}
    is_known = bool(actions & {"restored", "deleted", "deleting", "kept"})
    return "in-doubt" in actions and not is_known
