"""What the first line says of a run that a signal ended: what goes on, and what was never written.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.report.kinds.kind import Stage
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import is_unwritten, list_unwritten
from gate.report.words.object_names import some_names, workload_name
from gate.report.words.refusal import NOTHING_NEW
from gate.report.words.single_run import LEFT, stage_of

_MOST_NAMED: Final = 3


def describe_interruption(result: Result) -> str:
    """Say what a signal left of each workload, or its message where that is the same for all."""
    workloads = result["workloads"]
    unwritten = list_unwritten(result, workloads)
    doubtful = [one for one in workloads if is_unwritten(one) and one not in unwritten]
    runs = [one for one in workloads if stage_of(one) is not None]
    is_back = result["rollback"] is not None
    is_alike = is_back or len(workloads) == 1 or not any(one["changed"] for one in workloads)
    is_alike = is_alike or all(one["complete_after_signal"] for one in workloads)
    if len(workloads) in (len(unwritten), len(doubtful)):
        has_written = doubtful or any(one["action"] != "unchanged" for one in result["objects"])
        return NOTHING_NEW if result["has_recovered"] and not has_written else result["message"]
    if is_alike and not (unwritten or runs or doubtful):
        return _say_of_all(result)
    rolling = [one for one in workloads if one not in (*unwritten, *doubtful, *runs)]
    parts = [*_runs(result, runs, is_alone=not rolling)]
    if is_back:
        parts.insert(0, _say_of_all(result))
    elif rolling:
        parts.append(f"the rollout of {_names(result, rolling)} was left as it is")
    if unwritten:
        were = "was" if len(unwritten) == 1 else "were"
        parts.append(f"{_names(result, unwritten)} {were} never written")
    if doubtful:
        were = "was" if len(doubtful) == 1 else "were"
        parts.append(f"whether {_names(result, doubtful)} {were} written is not known")
    return "; ".join(parts)


def _say_of_all(result: Result) -> str:
    """Return the message with the names of all workloads that have it, not of the first alone."""
    text = result["message"].partition(": ")[2]
    alike = [one for one in result["workloads"] if one["message"] == text]
    return f"{_names(result, alike)}: {text}" if len(alike) > 1 else result["message"]


def _runs(result: Result, runs: list[WorkloadResult], *, is_alone: bool) -> Iterator[str]:
    """Say of each run whether it goes on; one that has ended is named if nothing else is."""
    going_on = [one for one in runs if stage_of(one) is not Stage.ENDED]
    for one in going_on or (runs[-1:] if is_alone else ()):
        stage = stage_of(one)
        if stage is not None:
            yield f"{workload_name(result, one)} {LEFT[stage]}"


def _names(result: Result, workloads: list[WorkloadResult]) -> str:
    return some_names([workload_name(result, one) for one in workloads], _MOST_NAMED)
