"""A gate that itself stood still: no clock of an attempt counts that, and no check fails by it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gate.core.attempt.parts import Course, Interference, Requests
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


Later = Callable[[float], float]
"""From when a wait began to when it would have begun if the gate had never stood still."""


def give_time_back(attempt: Attempt, seconds: float) -> Attempt:
    """Take the `seconds` until now for which the gate stood still out of every clock.

    These are the rollouts' clocks and the beginning of each wait, which is never later than now.
    Of the questions to checks that are under way it is noted: their limits went on meanwhile.
    """

    def later(at: float) -> float:
        return at if math.isinf(at) else min(at + seconds, attempt.now)

    known, writes = attempt.workloads, attempt.writes
    rollouts = {
        ref: one.after_suspension(attempt.now, seconds) for ref, one in known.rollouts.items()
    }
    suspended_seconds = attempt.interference.suspended_seconds + seconds
    return replace(
        attempt,
        course=_shift_course(attempt.course, later),
        workloads=replace(known, rollouts=FrozenMap(rollouts)),
        requests=_shift_requests(attempt.requests, later, seconds),
        writes=replace(writes, lost_at=later(writes.lost_at)),
        interference=replace(
            _shift_interference(attempt.interference, later), suspended_seconds=suspended_seconds
        ),
    )


def _shift_course(course: Course, later: Later) -> Course:
    return replace(
        course,
        baked_since=later(course.baked_since),
        confirming_since=later(course.confirming_since),
        inspecting_since=later(course.inspecting_since),
        closing_since=later(course.closing_since),
    )


def _shift_requests(requests: Requests, later: Later, seconds: float) -> Requests:
    asked = {
        number: replace(one, asleep_seconds=one.asleep_seconds + seconds)
        for number, one in requests.outstanding.items()
        if isinstance(one, Ask)
    }
    wait = requests.wait
    return replace(
        requests,
        outstanding=requests.outstanding.put_all(asked),
        wait=replace(
            wait,
            since=later(wait.since),
            ended_at=later(wait.ended_at),
            unserved_since=later(wait.unserved_since),
        ),
    )


def _shift_interference(outside: Interference, later: Later) -> Interference:
    refusals = {
        what: replace(one, since=later(one.since)) for what, one in outside.contact.refusals.items()
    }
    lost = outside.contact.lost
    if lost is not None:
        lost = replace(lost, since=later(lost.since))
    return replace(
        outside,
        departed_at=later(outside.departed_at),
        contact=replace(outside.contact, lost=lost, refusals=FrozenMap(refusals)),
        interrupted_at=later(outside.interrupted_at),
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
