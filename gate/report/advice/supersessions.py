"""What to do where somebody else has taken a workload over: an apply that is to win."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.advice.commands import place_of, step_about
from gate.report.advice.kinds import kind_advice
from gate.report.advice.objects import writers_of
from gate.report.advice.step import Step
from gate.report.advice.takeover import TAKEN_OVER_UNASKED, managers_in, taking_step
from gate.report.advice.undo import text_of_return, undo_steps
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import find_fault_at_zero, is_restored
from gate.report.words.object_names import list_own_objects

_MOST_SCALED: Final = 2


def looking_at(workload: WorkloadResult) -> str:
    """Return the command that shows what there is: what runs once has no history."""
    return "status" if registry.of_entry(workload).runs_once else "history"


def advise_if_superseded(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Point to what runs, and to an apply that takes over the fields of whoever changed it.

    One apply is to win over all of them: it is refused while it leaves out one of those whose
    fields it does not take over unasked.
    """
    yield from kind_advice(Reason.BLOCKED_BY_POD, result, worst)
    theirs = [one for one in result["workloads"] if one["outcome"] == Outcome.SUPERSEDED]
    found = [_find_managers(result, one) for one in theirs or [worst]]
    named = dict.fromkeys(name for names in found for name in names)
    managers = [name for name in named if name not in TAKEN_OVER_UNASKED]
    if not managers:
        rest = "" if all(found) else "; a refusal names the --take-over that it takes"
        text = f"see what runs, and apply again if yours should win{rest}:"
        yield step_about(result, worst, text, looking_at(worst))
        return
    yield step_about(result, worst, "see what runs:", looking_at(worst))
    yield taking_step(result, "if yours should win", managers)
    if not all(found):
        yield Step("if that is refused, the refusal names whose fields it takes over besides")


def lead_back_from_zero(result: Result) -> Iterator[Step]:
    """Lead to what served before somebody scaled it to 0: to go back where pods had failed."""
    for one in _list_scaled(result):
        if _is_left_with_fault(result, one):
            yield from undo_steps(result, one, text_of_return(result, one))
        elif not is_restored(result, one):
            text = "this run has not judged it; if it was scaled down for a fault, see what served:"
            yield step_about(result, one, text, "history")


def scale_from_zero(result: Result) -> Iterator[Step]:
    """Lead to the pods that were wanted, and to a judgement of them: this run saw none to it."""
    for one in _list_scaled(result):
        called, place = registry.of_entry(one).call(one["name"]), place_of(result, one)
        words = ["kubectl", "scale", called, f"--replicas={one['scaled_from']}", *place]
        is_undone = _is_left_with_fault(result, one) and [*undo_steps(result, one, "")]
        stays = " (an undo leaves it at 0)" if is_undone else ""
        yield Step(f"if it should run{stays}:", shlex.join(words))
        yield step_about(result, one, "then judge it:", "verify")


def _is_left_with_fault(result: Result, workload: WorkloadResult) -> bool:
    is_faulty = find_fault_at_zero(result, workload) is not None
    return is_faulty and not is_restored(result, workload)


def _list_scaled(result: Result) -> list[WorkloadResult]:
    return [one for one in result["workloads"] if one["scaled_from"]][:_MOST_SCALED]


def _find_managers(result: Result, workload: WorkloadResult) -> list[str]:
    """Return the field managers that changed a workload, and that an apply conflicts with.

    A refused write of another workload ends all of them, and is a cause of each.
    """
    items = list_own_objects(result, workload)
    named = [one for one in result["workloads"] if one is not workload]
    others = tuple(f"{registry.of_entry(one).call(one['name'])}: " for one in named)
    messages = (cause["message"] for cause in workload["causes"])
    said = managers_in(" ".join(one for one in messages if not one.startswith(others)))
    return [name for item in items for name in writers_of(item)] or said
