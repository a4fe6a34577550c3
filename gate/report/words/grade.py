"""How a reader is to take an outcome: as good, bad, broken off, or not decided."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import WITHOUT_A_FAILURE, Outcome
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import is_unwritten


class Grade(enum.StrEnum):
    """How a run, a workload or a check is to be taken."""

    GOOD = "good"
    BAD = "bad"
    """The version, or what was asked for, is at fault."""
    BROKEN = "broken"
    """Something else kept it from a verdict."""
    UNSURE = "unsure"
    """There was too little evidence to tell."""


GRADES: Final[Mapping[Outcome, Grade]] = {
    Outcome.VERIFIED: Grade.GOOD,
    Outcome.APPLIED: Grade.GOOD,
    Outcome.OBSERVED: Grade.GOOD,
    Outcome.USAGE: Grade.BAD,
    Outcome.REFUSED: Grade.BAD,
    Outcome.ROLLED_BACK: Grade.BAD,
    Outcome.ROLLBACK_FAILED: Grade.BAD,
    Outcome.FAILED: Grade.BAD,
    Outcome.INTERNAL_ERROR: Grade.BROKEN,
    Outcome.SUPERSEDED: Grade.BROKEN,
    Outcome.LOST_CONTACT: Grade.BROKEN,
    Outcome.INTERRUPTED: Grade.BROKEN,
    Outcome.INCONCLUSIVE: Grade.UNSURE,
}


def grade(outcome: str) -> Grade:
    """Return the grade of an outcome, which is spelt as in a document."""
    return GRADES[Outcome(outcome)]


def ending_word(result: Result, workload: WorkloadResult) -> str:
    """Return how a workload ended, as the history in its lock says it.

    One that was complete while another failed is remembered as complete, not as verified. One that
    the run never came to write was not refused, unless the run was.
    """
    if workload["outcome"] == Outcome.REFUSED != result["outcome"] and is_unwritten(workload):
        return "not written"
    ends = {result["outcome"]}
    if result["outcome"] == Outcome.OBSERVED:
        ends = {one["outcome"] for one in result["workloads"]}
    is_beside_failure = workload["outcome"] == Outcome.VERIFIED and not ends <= WITHOUT_A_FAILURE
    return "complete" if is_beside_failure else workload["outcome"]


def result_grade(result: Result) -> Grade:
    """Return the grade of a run; one that was only observed is good if it found nothing bad.

    A recording without an end is UNSURE: its run may have ended otherwise.
    """
    found = grade(result["outcome"])
    if result["exit_code"] is None:
        return Grade.UNSURE
    workloads = [grade(one["outcome"]) for one in result["workloads"]]
    if result["outcome"] == Outcome.OBSERVED and set(workloads) - {Grade.GOOD}:
        return Grade.UNSURE
    return found


def check_grade(check: CheckResult) -> Grade:
    """Return the grade of a check; one that is not required decides nothing, and is never bad."""
    match check["verdict"]:
        case "pass":
            return Grade.GOOD
        case "fail" if check["required"]:
            return Grade.BAD
        case _:
            return Grade.UNSURE
