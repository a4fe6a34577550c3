"""Which workloads a text report describes in detail, and which it only names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.core.model.outcome import Outcome
from gate.report.formats.labelled_rows import Block
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import is_innocent
from gate.report.words.object_names import some_names, workload_name
from gate.report.words.worst import rank_workloads, worst_workload

_MOST_DETAILED: Final = 2
_MOST_NAMED: Final = 3


def select_detailed(result: Result) -> list[WorkloadResult]:
    """Return the workloads to describe in detail: the only one, or the bad ones."""
    workloads = result["workloads"]
    if len(workloads) < 2:  # noqa: PLR2004 - several
        return workloads
    bad = [d for d in workloads if d["evidence"]]
    worst = worst_workload(result)
    if worst is None or worst["outcome"] == Outcome.VERIFIED:
        return []
    return [worst, *(d for d in bad if d is not worst)][:_MOST_DETAILED]


def add_left_out(block: Block, result: Result, detailed: Sequence[WorkloadResult]) -> None:
    """Name the workloads in trouble that are not described beside those that are."""
    names = [
        workload_name(result, one)
        for one in (rank_workloads(result) if detailed else ())
        if one not in detailed and (one["evidence"] or (one["causes"] and not is_innocent(one)))
    ]
    if names:
        told = "the result document has why (--output json)"
        block.pointer("about", f"{some_names(names, _MOST_NAMED)}, too: {told}")
