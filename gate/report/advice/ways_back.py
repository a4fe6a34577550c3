"""What to do about a way back that did not come to its end, by what hindered it.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.core.versions.surroundings import OF_SURROUNDINGS
from gate.report.advice.attempt import WITHOUT_A_WORKLOAD
from gate.report.advice.commands import cluster_of, step_about
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.object_names import list_own_objects
from gate.report.words.unfinished import find_undone_response
from gate.report.words.version_names import baseline_words

_OF_A_RETURN: Final = (OF_SURROUNDINGS - {Reason.UNREACHABLE}) | {
    Reason.CONTAINER_CONFIG,
    Reason.NOT_RESTORED,
}
"""What keeps the version before from serving again, as it would any version."""


def hindrances(workload: WorkloadResult) -> list[str]:
    """Return the reasons among the causes that keep any version from serving."""
    found = (cause["reason"] for cause in workload["causes"])
    return [reason for reason in found if reason in _OF_A_RETURN]


def is_to_go_back_again(result: Result, worst: WorkloadResult) -> bool:
    """Tell whether no run, this one or an earlier one, wrote the way back of a workload."""
    rollback = result["rollback"]
    if rollback is None or _is_restored(result, worst):
        return False
    return not rollback["written_at"] or _is_refused_back(result, worst)


def describe_next_return(result: Result, worst: WorkloadResult) -> str:
    """Return what an undo is for after a refused way back, and what comes before it.

    Where it was refused for what others own, nothing else has to go first.
    """
    items = list_own_objects(result, worst)
    is_held = any(item["not_restored"] == Reason.CONFLICT for item in items)
    taking = "take over what others own" if worst["undo_conflicts"] else ""
    first = "" if is_held and taking else "once its cause is gone, "
    return f"{first}{taking}{', and ' if taking else ''}go back again:"


def _is_restored(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether the way back of a workload was written, by this run or an earlier one."""
    return any(item["action"] == "restored" for item in list_own_objects(result, workload))


def _is_refused_back(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether the server refused a workload's way back; it may accept another try."""
    refused = (Reason.REJECTED, Reason.FORBIDDEN, Reason.CONFLICT)
    return any(item["not_restored"] in refused for item in list_own_objects(result, workload))


def after_refused_writes(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise how to get the rights if the server refused writes of a way back for lack of them."""
    if not any(cause["reason"] == Reason.FORBIDDEN for cause in worst["causes"]):
        return
    flags = shlex.join(cluster_of(result).flags(worst["namespace"]))
    for step in WITHOUT_A_WORKLOAD[Reason.FORBIDDEN]:
        yield Step(step.text, f"{step.command} {flags}")


def look_at_version_before(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Point to the version before if it does not serve although its way back was written.

    A ControllerRevision has neither a status nor events: the workload itself is looked at then.
    """
    baseline = worst["baseline"]
    if baseline is None or not baseline["name"] or _serves(worst, baseline["name"]):
        return
    if is_to_go_back_again(result, worst) or find_undone_response(result, worst):
        return
    kind = registry.of_entry(worst)
    name = kind.call(worst["name"])
    if kind.replica_set(baseline["name"]):
        name = kind.call_version(baseline["name"])
    command = cluster_of(result).command("kubectl", "describe", name, namespace=worst["namespace"])
    yield Step(f"see what keeps {baseline_words(worst)} from serving:", command)


def return_beyond(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise the undo that goes on to another verified version, where one does."""
    is_back = not result["recoverable"] and not is_to_go_back_again(result, worst)
    if is_back and worst["remedy"] == Remedy.UNDO:
        text = "if it does not come to serve, return to another version that was verified:"
        yield step_about(result, worst, text, "undo")


def _serves(workload: WorkloadResult, name: str) -> bool:
    """Tell whether a version had all of its pods available when it was seen last."""
    last = workload["trees"][-1]["revisions"] if workload["trees"] else []
    return any(one["name"] == name and 0 < one["wanted"] <= one["available"] for one in last)
