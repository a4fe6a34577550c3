"""How the last look at a run's objects found a workload."""

from __future__ import annotations

from gate.report.schema.result import (
    Result,
    StateAtEnd,
    WorkloadResult,
)
from gate.report.words.object_names import (
    list_own_objects,
)


def is_made_again(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether a workload was deleted and created again, by the last look at it."""
    return _state_at_end(result, workload) == "recreated"


def is_changed_by_others(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether somebody else has written a workload since, by the last look at it."""
    return _state_at_end(result, workload) in ("changed", "recreated")


def _state_at_end(result: Result, workload: WorkloadResult) -> StateAtEnd | None:
    """Return how the last look found a workload, None if nobody looked."""
    for one in list_own_objects(result, workload):
        if one["at_end"]:
            return one["at_end"]["state"]
    return None
