"""What to do after a signal: follow what goes on, go on, or go back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.report.advice.commands import recovery_step, step_about
from gate.report.advice.step import Step
from gate.report.advice.undo import undo_steps
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import has_run_alone, is_unwritten, is_written_back
from gate.report.words.single_run import is_left_open
from gate.report.words.version_names import baseline_words

_FINISH: Final = "finish what this run left (back if incomplete, unless failures are kept):"
_CLOSE: Final = "close the attempt; nothing of it can be taken back:"


def after_interrupt(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise how to go on or back; without a lock there is nothing to recover.

    A way back is to be finished first, also one that was decided on and of which nothing could be
    written: until then nothing that runs is what was meant to.
    """
    is_going_back, was_to_go_back = is_written_back(result), result["rollback"] is not None
    if is_left_open(worst):
        text = "it goes on without the gate; to follow it to its end:"
        yield step_about(result, worst, text, "verify")
    elif not is_unwritten(worst) and not (was_to_go_back and result["recoverable"]):
        yield step_about(result, worst, "follow the rollout, which goes on by itself:", "verify")
    if is_going_back and result["recoverable"]:
        yield recovery_step(result, "finish the rollback, and follow it to its end:")
    elif is_going_back:
        yield Step("or apply again what should run: it goes on from there")
    elif any(map(is_unwritten, result["workloads"])):
        yield from _half_written(result, worst)
    elif result["recoverable"]:
        finish = _FINISH if was_to_go_back else f"then {_FINISH}"
        yield recovery_step(result, _CLOSE if has_run_alone(result) else finish)
    elif worst["changed"]:
        if not registry.of_entry(worst).runs_once:
            back = baseline_words(worst, "what served before")
            yield from undo_steps(result, worst, f"or return to {back}:")
        yield Step("or apply again: it goes on from what runs")


def _half_written(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    again = "apply again" if result["command"] == "apply" else "run the same command again"
    once = "once it is complete, " if is_left_open(worst) else ""
    yield Step(f"{once}{again}: that writes what is missing")
    if result["recoverable"]:
        text = "or take back the part that was written:"
        yield recovery_step(result, f"or {_CLOSE}" if has_run_alone(result) else text)
