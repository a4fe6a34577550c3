"""WRITING: the writes of the leg, each decided when it is sent (`writes.queue`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.limits import SETTLING_SECONDS
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.plan.leg import Leg
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.lines import Line, describe_rejection
from gate.core.states.needs import is_blocked
from gate.core.states.object_reads import end_wait
from gate.core.states.rollback_start import has_writes_back, is_failure_to_take_back
from gate.core.states.verdicts import Verdicts
from gate.core.writes.order import answers_lost
from gate.core.writes.queue import next_write


class Writing(StateBehaviour):
    """Sends the queue until it is empty.

    The way out ends earlier if a write is refused, or if what was written has failed and goes back.
    """

    has_writes_ahead = True

    def enter(self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Make the queue of the way out, that of the way back was made when the rollback started.

        After a failure that was not confirmed, or once the next write has what it needs, what is
        left of the queue is sent.
        """
        if trigger is Trigger.UNWRITTEN:
            return replace(attempt, course=replace(attempt.course, confirming_since=math.inf)), ()
        if trigger is Trigger.READY:
            return next_write(end_wait(attempt))
        if attempt.course.leg is Leg.FORWARD:
            attempt = replace(attempt, writes=replace(attempt.writes, queue=attempt.plan.writes))
        return next_write(attempt)

    def next_trigger(self, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        """Go on once all writes are answered; a refusal ends the way out or turns it back."""
        if attempt.course.leg is Leg.FORWARD and attempt.writes.rejection is not None:
            return answer_rejection(attempt)
        if _is_settled(attempt) and is_failure_to_take_back(attempt, verdicts):
            return Trigger.FAILED
        if is_blocked(attempt, verdicts):
            return Trigger.BLOCKED
        if attempt.writes.queue or attempt.asks:
            return None
        if attempt.course.leg is Leg.BACK and attempt.interference.signal_number is not None:
            return Trigger.INTERRUPTED
        return Trigger.WRITTEN

    def ask(self, attempt: Attempt) -> Step:
        """Send the next write, or read what it has to be decided on.

        A server that did not answer the reads that were to confirm a failure is left alone first.
        """
        if _waits_to_confirm(attempt):
            return attempt, ()
        return next_write(attempt)

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield when a known failure no longer waits for a lost answer."""
        yield attempt.writes.lost_at + SETTLING_SECONDS

    def describe_exit(
        self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts
    ) -> Iterator[Line]:
        """Say which refused write ends the attempt."""
        if trigger is Trigger.REJECTED:
            yield from describe_rejection(attempt)

    def can_read_aside(self, attempt: Attempt) -> bool:
        """Tell whether all writes have been sent."""
        return not attempt.writes.queue


def _is_settled(attempt: Attempt) -> bool:
    """Tell whether writes of the way out are left, and it is known what each earlier one did.

    A write whose answer was lost is settled first, within `SETTLING_SECONDS`, and so is one that
    was refused. When the budget ends, the write that is next says so.
    """
    writes, requests = attempt.writes, attempt.requests
    if attempt.course.leg is Leg.BACK or not writes.queue or requests.outstanding:
        return False
    if writes.retry is not None and writes.retry.refused is not None:
        return False
    if answers_lost(attempt) and attempt.now < writes.lost_at + SETTLING_SECONDS:
        return False
    return requests.not_before <= attempt.now < attempt.leg_ends_at


def _waits_to_confirm(attempt: Attempt) -> bool:
    """Tell whether the reads that were to confirm a failure are soon to be asked again.

    Nothing else makes the way out wait before a write that needs no read.
    """
    is_out = attempt.course.leg is Leg.FORWARD and attempt.writes.retry is None
    return is_out and attempt.now < attempt.requests.not_before


def answer_rejection(attempt: Attempt) -> Trigger:
    """Return what follows a write that cannot be done: back, if anything was changed."""
    changed = any(written.changed for written in attempt.ledger.written.values())
    back = changed and has_writes_back(attempt, attempt.workloads.rollouts)
    return Trigger.RETREAT if back else Trigger.REJECTED
