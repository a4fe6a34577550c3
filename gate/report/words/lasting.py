"""What the first line says where something failed that nothing takes back, as a Job."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.model.outcome import Outcome
from gate.report.kinds.registry import of_entry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import OF_CHECKS
from gate.report.words.half_applied import is_innocent, list_unwritten
from gate.report.words.object_names import list_own_objects, object_name, some_names, workload_name
from gate.report.words.several_workloads import lasting
from gate.report.words.single_run import LEFT, describe_run, describe_stay, stage_of

MOST_NAMED = 3


def describe_lasting_failure(result: Result) -> str:
    """Say that it failed, what stays of it, and what became of the rest; "" if nothing such did.

    What failed besides it is not described here.
    """
    if _is_check_of_runs(result):
        return _describe_check(result)
    if result["outcome"] not in (Outcome.ROLLED_BACK, Outcome.FAILED):
        return ""
    ended = (Outcome.FAILED, Outcome.ROLLED_BACK)
    failed = [
        one for one in result["workloads"] if one["outcome"] in ended and not is_innocent(one)
    ]
    if not failed or not all(of_entry(one).runs_once for one in failed):
        return ""
    runs = (describe_run(result, one) for one in failed)
    stays = (describe_stay(one, workload_name(result, one)) for one in failed)
    return "; ".join([*runs, *_the_rest(result, failed), *lasting(result), *filter(None, stays)])


def _is_check_of_runs(result: Result) -> bool:
    """Tell whether checks ended a run beside Jobs alone, of which no check can say anything."""
    workloads = result["workloads"]
    is_alone = bool(workloads) and all(of_entry(one).runs_once for one in workloads)
    return is_alone and result["reason"] in OF_CHECKS


def _describe_check(result: Result) -> str:
    workloads = result["workloads"]
    done = [one for one in workloads if one["outcome"] == Outcome.VERIFIED]
    said = [f"{workload_name(result, one)} {LEFT[stage_of(one)]}" for one in workloads]
    if len(done) == len(workloads):
        names = some_names([workload_name(result, one) for one in done], MOST_NAMED)
        said = [f"{names} {'has' if len(done) == 1 else 'have'} completed"]
    stays = (describe_stay(one, workload_name(result, one)) for one in workloads)
    is_back = result["outcome"] == Outcome.ROLLED_BACK
    first = f"{' and '.join(said[:MOST_NAMED])}, but {result['message']}"
    left = [*filter(None, stays)] if is_back else []
    return "; ".join([first, *_the_rest(result, workloads), *left])


def _the_rest(result: Result, failed: list[WorkloadResult]) -> Iterator[str]:
    others = [one for one in result["workloads"] if one not in failed]
    unwritten = list_unwritten(result, others)
    if unwritten:
        names = some_names([workload_name(result, one) for one in unwritten], MOST_NAMED)
        yield f"{names} {'was' if len(unwritten) == 1 else 'were'} never written"
    own = [item for one in failed for item in list_own_objects(result, one)]
    actions = {item["action"] for item in result["objects"] if item not in own}
    doubtful = [item for item in result["objects"] if item["action"] == "in-doubt"]
    if doubtful:
        names = some_names([object_name(result, item) for item in doubtful], MOST_NAMED)
        yield f"whether {names} was written is not known"
    if actions & {"restored", "deleted"} and actions & {"kept", "created"}:
        yield "what else was changed went back"
    elif actions & {"restored", "deleted"}:
        yield "what else was written went back"
    elif actions & {"changed", "created"}:
        yield "what else was written stands"


def describe_not_replaced(result: Result) -> str:
    """Name the Jobs that were deleted to run again, and were not created; "" without any.

    A way back deletes none.
    """
    once = [one for one in result["workloads"] if of_entry(one).runs_once]
    own = [item for one in once for item in list_own_objects(result, one)]
    gone = [object_name(result, item) for item in own if item["action"] == "deleted"]
    if not gone:
        return ""
    were = "was" if len(gone) == 1 else "were"
    return f", but the failed {some_names(gone, MOST_NAMED)} {were} deleted and not created again"
