"""What became of a workload that did not go back: `--on-first-failure` may take it away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import TypeVar

from gate.report.kinds import registry
from gate.report.kinds.kind import Empty
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import is_innocent, is_unwritten
from gate.report.words.object_names import list_own_objects

_Key = TypeVar("_Key")


class Fate(Enum):
    """How a workload was left."""

    STAYS = auto()
    SCALED_TO_ZERO = auto()
    BEING_DELETED = auto()
    DELETED = auto()
    NEVER_WRITTEN = auto()


GONE = (Fate.BEING_DELETED, Fate.DELETED)
"""What `--on-first-failure delete` makes of a workload that the run created."""


def fate_of(result: Result, workload: WorkloadResult) -> Fate:
    """Return how the run left a workload, by what was done to it and by what runs.

    Without objects in the document nothing was to be written, as by `verify`.
    """
    if result["objects"] and is_innocent(workload) and is_unwritten(workload):
        return Fate.NEVER_WRITTEN
    done = {item["action"] for item in list_own_objects(result, workload)}
    if "deleted" in done:
        return Fate.DELETED
    if "deleting" in done:
        return Fate.BEING_DELETED
    is_scaled = registry.of_entry(workload).when_empty is Empty.SCALED_TO_ZERO
    return Fate.SCALED_TO_ZERO if is_scaled and workload["running"] == "none" else Fate.STAYS


def fate_words(fate: Fate, count: int) -> str:
    """Return how `count` workloads were left, as the end of a sentence about them."""
    one = count == 1
    match fate:
        case Fate.STAYS:
            return "stays" if one else "stay"
        case Fate.SCALED_TO_ZERO:
            return f"{'is' if one else 'are'} {Empty.SCALED_TO_ZERO}"
        case Fate.BEING_DELETED:
            return f"{'is' if one else 'are'} being deleted"
        case Fate.DELETED:
            return f"{'was' if one else 'were'} deleted"
        case Fate.NEVER_WRITTEN:
            return f"{'was' if one else 'were'} never written"


def group_workloads(
    workloads: Iterable[WorkloadResult], key: Callable[[WorkloadResult], _Key]
) -> list[tuple[_Key, list[WorkloadResult]]]:
    """Group workloads by `key`, the groups in the order of their first members."""
    found: dict[_Key, list[WorkloadResult]] = {}
    for one in workloads:
        found.setdefault(key(one), []).append(one)
    return list(found.items())
