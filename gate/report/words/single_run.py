"""What is said of a workload that runs once, as a Job: how far it came, and what of it stays.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.kinds.kind import Stage
from gate.report.kinds.registry import of_entry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import verb_of
from gate.report.words.half_applied import is_unwritten
from gate.report.words.object_names import workload_name

LEFT: Final[Mapping[Stage | None, str]] = {
    Stage.WAITING: "was left waiting to start",
    Stage.RUNNING: "was left running",
    Stage.SUSPENDED: "was left suspended",
    Stage.ENDED: "has ended",
    None: "was left as it is",
}
"""How a run was left by a gate that ended for something else."""
_VERBS: Final[Mapping[Stage, str]] = {
    Stage.WAITING: "has not run",
    Stage.RUNNING: "runs",
    Stage.SUSPENDED: "is not running",
    Stage.ENDED: "ran",
}
"""What it does with its version."""


def stage_of(workload: WorkloadResult) -> Stage | None:
    """Return how far it came, None if it serves, was never written, is gone, or is not known.

    Between two of its pods it has none, and goes on.
    """
    if not of_entry(workload).runs_once or is_unwritten(workload):
        return None
    is_gone = workload["deletion"] is not None or workload["outcome"] == Outcome.SUPERSEDED
    if is_gone or workload["running"] == "unknown":
        return None
    has_failed = workload["reason"] in of_entry(workload).failures
    if has_failed or workload["running"] == "none" or workload["outcome"] == Outcome.VERIFIED:
        return Stage.ENDED
    causes = (cause["reason"] for cause in workload["causes"])
    if workload["paused"] or Reason.PAUSED in (workload["reason"], *causes):
        return Stage.SUSPENDED
    return Stage.RUNNING if workload["lasting_effect"] else Stage.WAITING


def is_left_open(workload: WorkloadResult) -> bool:
    """Tell whether it was written and has not come to its end: it goes on, or may, by itself."""
    return stage_of(workload) in (Stage.WAITING, Stage.RUNNING, Stage.SUSPENDED)


def describe_run(result: Result, workload: WorkloadResult) -> str:
    """Say how it did not end well."""
    words = of_entry(workload).stages[stage_of(workload) or Stage.ENDED]
    return f"{workload_name(result, workload)} {words.did.format(did=verb_of(workload))}"


def describe_stay(workload: WorkloadResult, it: str = "it") -> str:
    """Say what of `it` stays, "" if nothing does."""
    return of_entry(workload).stages[stage_of(workload) or Stage.ENDED].stays.format(it=it)


def describe_end(result: Result, workload: WorkloadResult) -> str:
    """Say how it did not end well, and what of it stays."""
    run, stays = describe_run(result, workload), describe_stay(workload)
    return f"{run}, and {stays}" if stays else run


def label_of_run(workload: WorkloadResult) -> str:
    """Return the label of its version: what it does with it, or that it was wanted."""
    is_to_run = stage_of(workload) in (Stage.WAITING, Stage.SUSPENDED)
    return "wanted" if is_to_run else verb_of_run(workload)


def verb_of_run(workload: WorkloadResult) -> str:
    """Return what it does with its version: whether it runs that, ran it, or has not yet."""
    stage = stage_of(workload)
    if stage is None:
        return "runs" if workload["deletion"] is not None else "may run"
    return _VERBS[stage]
