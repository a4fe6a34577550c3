"""What to say about an apply that did not reach all its writes, and about what it never wrote.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gate.core.model.outcome import TAKEN_OVER, Outcome, Reason
from gate.core.writes.obstacles import DELETED_MEANWHILE
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import has_one_version, why_unverified
from gate.report.words.object_names import list_own_objects

_BROKE_OFF: Final = "the apply broke off half-way"
_HOW: Final[Mapping[str, str]] = {
    Reason.APPLY_REJECTED: "the apply was rejected half-way",
    Reason.INTERRUPTED: _BROKE_OFF,
    Reason.DELETED: _BROKE_OFF,
    Reason.SUPERSEDED: _BROKE_OFF,
    Reason.SCALED_TO_ZERO: _BROKE_OFF,
}
_WAITED_IN_VAIN: Final = (Reason.DELETED, *TAKEN_OVER)
"""Why an apply waited in vain for a workload of others: the server rejected nothing."""


def how_it_ended(result: Result) -> str:
    """Say what cut an apply off half-way, "" if a version came to its own end."""
    if result["unready_need"]:
        return f"{_BROKE_OFF} at {result['message']}"
    how = _HOW.get(result["reason"], "")
    if how and _has_written(result) and _has_waited_in_vain(result):
        return f"{_BROKE_OFF} at {result['message']}"
    if result["reason"] == Reason.APPLY_REJECTED:
        return how
    if not result["workloads"]:
        return how if any(item["action"] == "unchanged" for item in result["objects"]) else ""
    return how if any(map(is_unwritten, result["workloads"])) else ""


def find_deleted(result: Result) -> str:
    """Return the name of what somebody deleted before its write, which ended the run, or ""."""
    name, _, said = result["message"].partition(": ")
    return name if said == DELETED_MEANWHILE else ""


def _has_waited_in_vain(result: Result) -> bool:
    if result["reason"] in _WAITED_IN_VAIN or find_deleted(result):
        return True
    causes = (cause for one in result["workloads"] for cause in one["causes"])
    return any(cause["reason"] in _WAITED_IN_VAIN for cause in causes)


def has_failed_itself(workload: WorkloadResult) -> bool:
    """Tell whether a workload's own version led back, not a refused write or the gate's end."""
    return not is_innocent(workload) and workload["reason"] not in _HOW


def is_unwritten(workload: WorkloadResult) -> bool:
    """Tell whether an attempt with writes never reached a workload, as far as is known.

    A Job that failed was written, also where a recovery finds it gone.
    """
    if workload["outcome"] == Outcome.VERIFIED or workload["reason"] in registry.FAILURES:
        return False
    return not (workload["changed"] or workload["new"]["name"])


def has_run_alone(result: Result) -> bool:
    """Tell whether all that a run wrote runs once, as a Job: nothing of that is taken back."""
    written = [item for item in result["objects"] if item["action"] != "unchanged"]
    return bool(written) and all(registry.of_entry(item).runs_once for item in written)


def is_in_doubt(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether nobody knows if a run wrote a workload: the answer was lost."""
    return any(item["action"] == "in-doubt" for item in list_own_objects(result, workload))


def list_unwritten(result: Result, workloads: Sequence[WorkloadResult]) -> list[WorkloadResult]:
    """Return the workloads that a run is known never to have written."""
    return [one for one in workloads if is_unwritten(one) and not is_in_doubt(result, one)]


def is_left_unserved(workload: WorkloadResult) -> bool:
    """Tell whether an attempt that never reached a workload left it as before, and that is bad.

    What served before does not run alone: an earlier attempt left its version there.
    """
    is_other = workload["running"] in ("mixed", "other")
    return workload["baseline"] is not None and is_unwritten(workload) and is_other


def stays_as_created(workload: WorkloadResult) -> bool:
    """Tell whether an apply created a workload, was cut off, and left it when it went back."""
    is_left = workload["outcome"] == Outcome.INCONCLUSIVE and workload["reason"] in _HOW
    return is_left and not registry.of_entry(workload).runs_once


def is_new(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether this run created a workload, so that nothing served before it."""
    return any(
        item["action"] == "created" or (item["action"] == "kept" and not item["changes"])
        for item in list_own_objects(result, workload)
    )


def is_unchanged(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a run with writes left a workload as it found it."""
    is_patched = any(one["action"] == "changed" for one in list_own_objects(result, workload))
    is_same = not (workload["changed"] or is_patched or is_unwritten(workload))
    return _has_written(result) and is_same


def keeps_version(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a run with writes left a workload at the version that it found."""
    return is_unchanged(result, workload) and has_one_version(workload)


def has_changed_nothing(result: Result) -> bool:
    """Tell whether a run had objects to write, and every one of them was already as wanted."""
    actions = {item["action"] for item in result["objects"]}
    return _has_written(result) and actions == {"unchanged"}


def nothing_held(result: Result, failed: Sequence[WorkloadResult]) -> str:
    """Return what follows "it stands as it was" after failed checks of a run that changed nothing.

    Those are not remembered of a version that is verified, but that pods failed is
    (`_failed_unchanged` of the core).
    """
    is_by_checks = all(one["reason"] == Reason.CHECK_FAILED for one in failed)
    are_verified = all(has_one_version(one) and not why_unverified(one) for one in failed)
    if not (is_by_checks and are_verified and has_changed_nothing(result)):
        return ""
    versions = "its version" if len(failed) == 1 else "their versions"
    return f", and this failure is not remembered against {versions}"


def _has_written(result: Result) -> bool:
    """Tell whether a run applied its objects, not only looked: then it looks at them again."""
    return any(one["at_end"] or one["action"] != "unchanged" for one in result["objects"])


def is_written_back(result: Result) -> bool:
    """Tell whether any write of a way back was done, by this run or by one that it finishes."""
    rollback = result["rollback"]
    if rollback is None:
        return False
    return bool(rollback["written_at"]) or any(
        item["action"] == "restored" for item in result["objects"]
    )


def is_innocent(workload: WorkloadResult) -> bool:
    """Tell whether nothing was found against a workload, which only shares another's failure."""
    causes = {cause["reason"] for cause in workload["causes"]}
    return workload["reason"] == Reason.SIBLING_FAILED and causes <= {Reason.SIBLING_FAILED}


def is_left_alone(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a way back left a workload out because it is somebody else's now."""
    superseded = workload["outcome"] == Outcome.SUPERSEDED
    return superseded and result["rollback"] is not None and is_unwritten(workload)
