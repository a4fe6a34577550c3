"""Whether a way back was written, as far as anything shows it.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

from gate.report.schema.result import Result, RollbackResult
from gate.report.words.half_applied import is_written_back
from gate.report.words.moment import moment


def when_written(result: Result, rollback: RollbackResult) -> str:
    """Say when the first write of a way back was done, as far as anything shows that one was."""
    if rollback["written_at"]:
        perhaps = "perhaps " if is_in_doubt(result) else ""
        return f"{perhaps}written at {moment(rollback['written_at'])}"
    is_earlier = is_written_back(result) or rollback["verified"]
    return "written by another run" if is_earlier else "not written"


def is_in_doubt(result: Result) -> bool:
    """Tell whether a way back may have been written, and nothing shows that any of it was."""
    actions = {item["action"] for item in result["objects"]}
    is_known = bool(actions & {"restored", "deleted", "deleting", "kept"})
    return "in-doubt" in actions and not is_known
