"""A gate that itself stood still: no clock of an attempt counts that, and no check fails by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.core.attempt.state import Attempt
from gate.core.checks.questions import Errored, Trouble
from gate.core.checks.run import CheckRun
from gate.core.checks.spec import During
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.protocol.effects import Ask

STOOD_STILL: Final = Errored(
    CleanText("the gate itself stood still while it waited for the answer"), Trouble.TIMED_OUT
)
"""What is measured where nobody can tell whether an answer would have come in time."""


def give_time_back(attempt: Attempt, seconds: float) -> Attempt:
    """Take the `seconds` until now for which the gate stood still out of every clock.

    Of the questions to checks that are under way it is noted: their limits went on meanwhile.
    """
    course, known, requests = attempt.course, attempt.workloads, attempt.requests
    rollouts = {
        ref: one.after_suspension(attempt.now, seconds) for ref, one in known.rollouts.items()
    }
    asked = {
        number: replace(one, asleep_seconds=one.asleep_seconds + seconds)
        for number, one in requests.outstanding.items()
        if isinstance(one, Ask)
    }
    outside = attempt.interference
    return replace(
        attempt,
        course=replace(
            course,
            baked_since=course.baked_since + seconds,
            confirming_since=course.confirming_since + seconds,
            inspecting_since=course.inspecting_since + seconds,
        ),
        workloads=replace(known, rollouts=FrozenMap(rollouts)),
        requests=replace(
            requests,
            outstanding=requests.outstanding.put_all(asked),
            wait=replace(requests.wait, since=requests.wait.since + seconds),
        ),
        interference=replace(outside, suspended_seconds=outside.suspended_seconds + seconds),
    )


def extend_window(attempt: Attempt, run: CheckRun, effect: Ask) -> Attempt:
    """Give the bake window back what a question took of it that has to be asked again.

    Only the first one in a row does: a gate that stands still again and again ends some time.
    """
    course = attempt.course
    if not run.check.runs_in(During.BAKE) or run.tally.consecutive_errors:
        return attempt
    asked_at = effect.tick.at + effect.asleep_seconds
    seconds = max(0.0, attempt.now - max(asked_at, course.baked_since))
    return replace(attempt, course=replace(course, baked_since=course.baked_since + seconds))
