"""What to do after a signal: follow what goes on, go on, or go back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.report.advice.commands import recovery_step, step_about
from gate.report.advice.finishing import describe_finishing
from gate.report.advice.fixed_steps import RESUME, RESUME_AT_LAST
from gate.report.advice.step import Step
from gate.report.advice.undo import undo_steps
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import find_fault
from gate.report.words.half_applied import has_run_alone, is_unwritten, is_written_back
from gate.report.words.object_names import workload_name
from gate.report.words.single_run import is_left_open
from gate.report.words.version_names import baseline_words

_MOST_RESUMED: Final = 3
_CLOSE: Final = "close the attempt; nothing of it can be taken back:"


def after_interrupt(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise how to go on or back; without a lock there is nothing to recover.

    A way back is to be finished first, also one that was decided on and of which nothing could be
    written: until then nothing that runs is what was meant to. What is paused half-way does not go
    on by itself: its pause is named first, unless its pods show something against it.
    """
    is_going_back, was_to_go_back = is_written_back(result), result["rollback"] is not None
    is_doubtful = not is_going_back and _has_evidence_under_pause(worst)
    if is_doubtful:
        yield from _go_back(result, worst, "to return to")
    yield from _resume_paused(result, is_doubtful=is_doubtful)
    rolling = _find_rolling(result, worst)
    if how := _how_to_follow(result, rolling):
        yield step_about(result, rolling, how, "verify")
    if is_going_back and result["recoverable"]:
        yield recovery_step(result, "finish the rollback, and follow it to its end:")
    elif is_going_back:
        yield Step("or apply again what should run: it goes on from there")
    elif any(map(is_unwritten, result["workloads"])):
        yield from _half_written(result, worst)
    elif result["recoverable"]:
        finish = describe_finishing(result)
        finish = finish if was_to_go_back else f"then {finish}"
        yield recovery_step(result, _CLOSE if has_run_alone(result) else finish)
    elif worst["changed"]:
        if not is_doubtful:
            yield from _go_back(result, worst, "or return to")
        yield Step("or apply again: it goes on from what runs")


def _go_back(result: Result, worst: WorkloadResult, verb: str) -> Iterator[Step]:
    if not registry.of_entry(worst).runs_once:
        back = baseline_words(worst, "what served before")
        yield from undo_steps(result, worst, f"{verb} {back}:")


def _has_evidence_under_pause(workload: WorkloadResult) -> bool:
    """Tell whether pods of what a pause holds half-way show something against its version."""
    return workload["paused"] and bool(workload["evidence"] or find_fault(workload))


def _resume_paused(result: Result, *, is_doubtful: bool) -> Iterator[Step]:
    """Name each pause that holds a workload half-way, with what ends it."""
    how = RESUME_AT_LAST if is_doubtful else RESUME
    for one in [one for one in result["workloads"] if one["paused"]][:_MOST_RESUMED]:
        what = f"{workload_name(result, one)} is paused, and does not go on by itself"
        yield step_about(result, one, f"{what}: {how}", "resume")


def _find_rolling(result: Result, worst: WorkloadResult) -> WorkloadResult:
    """Return what to follow: a workload that is not complete, if `worst` is."""
    if not worst["complete_after_signal"]:
        return worst
    rest = (one for one in result["workloads"] if not one["complete_after_signal"])
    return next((one for one in rest if not is_unwritten(one)), worst)


def _how_to_follow(result: Result, worst: WorkloadResult) -> str:
    """Say how the rollout goes on, "" where there is none or `recover` follows it."""
    if worst["paused"]:
        return "" if is_written_back(result) else "then follow it to its end:"
    if is_left_open(worst):
        return "it goes on without the gate; to follow it to its end:"
    is_to_be_recovered = result["rollback"] is not None and result["recoverable"]
    if is_unwritten(worst) or is_to_be_recovered:
        return ""
    if worst["complete_after_signal"]:
        return "it is complete; to judge it again, add the --bake and check flags of this run:"
    return "follow the rollout, which goes on by itself:"


def _half_written(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    again = "apply again" if result["command"] == "apply" else "run the same command again"
    once = "once it is complete, " if is_left_open(worst) else ""
    yield Step(f"{once}{again}: that writes what is missing")
    if result["recoverable"]:
        text = "or take back the part that was written:"
        yield recovery_step(result, f"or {_CLOSE}" if has_run_alone(result) else text)
