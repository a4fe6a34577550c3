"""What the first line says where something failed that nothing takes back, as a Job."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.model.outcome import Outcome
from gate.report.kinds.registry import of_entry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import verb_of
from gate.report.words.half_applied import is_innocent, is_unwritten
from gate.report.words.object_names import list_own_objects, some_names, workload_name

MOST_NAMED = 3


def has_failed_for_good(workload: WorkloadResult) -> bool:
    """Tell whether it failed itself, and nothing takes back what it did."""
    is_own = workload["outcome"] == Outcome.FAILED and not is_innocent(workload)
    return is_own and bool(of_entry(workload).fails)


def describe_lasting_failure(result: Result) -> str:
    """Say that it failed, what stays of it, and what became of the rest; "" if nothing such did.

    What failed besides it is not described here.
    """
    if result["outcome"] not in (Outcome.ROLLED_BACK, Outcome.FAILED):
        return ""
    ended = (Outcome.FAILED, Outcome.ROLLED_BACK)
    failed = [
        one for one in result["workloads"] if one["outcome"] in ended and not is_innocent(one)
    ]
    if not failed or not all(of_entry(one).fails for one in failed):
        return ""
    return "; ".join([*_failures(result, failed), *_the_rest(result, failed)])


def _failures(result: Result, failed: list[WorkloadResult]) -> Iterator[str]:
    for one in failed:
        name = workload_name(result, one)
        if one["running"] == "new":
            yield f"{name} did not complete, and its pods may run on; what it does stays"
        else:
            yield of_entry(one).fails.format(name=name, did=verb_of(one))


def _the_rest(result: Result, failed: list[WorkloadResult]) -> Iterator[str]:
    others = [one for one in result["workloads"] if one not in failed]
    own = [item for one in failed for item in list_own_objects(result, one)]
    actions = {item["action"] for item in result["objects"] if item not in own}
    if actions & {"restored", "deleted"}:
        yield "what else was written went back"
    elif actions & {"changed", "created"}:
        yield "what else was written stands"
    unwritten = [one for one in others if is_unwritten(one)]
    if unwritten:
        names = some_names([workload_name(result, one) for one in unwritten], MOST_NAMED)
        yield f"{names} {'was' if len(unwritten) == 1 else 'were'} never written"
