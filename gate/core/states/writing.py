"""WRITING: the writes of the leg, each decided when it is sent (`writes.queue`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.plan.leg import Leg
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.lines import Line, describe_rejection
from gate.core.states.rollback_start import has_writes_back
from gate.core.states.verdicts import Verdicts
from gate.core.writes.queue import next_write


class Writing(StateBehaviour):
    """Sends the queue until it is empty, or until a write of the way out is refused."""

    has_writes_ahead = True

    def enter(self, attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Send the first write; on the way back the queue was made when the rollback started."""
        if attempt.course.leg is Leg.FORWARD:
            attempt = replace(attempt, writes=replace(attempt.writes, queue=attempt.plan.writes))
        return next_write(attempt)

    def next_trigger(self, attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        """Go on once all writes are answered; a refusal ends the way out or turns it back."""
        if attempt.course.leg is Leg.FORWARD and attempt.writes.rejection is not None:
            return _answer_rejection(attempt)
        if attempt.writes.queue or attempt.asks:
            return None
        if attempt.course.leg is Leg.BACK and attempt.interference.signal_number is not None:
            return Trigger.INTERRUPTED
        return Trigger.WRITTEN

    def ask(self, attempt: Attempt) -> Step:
        """Send the next write, or read what it has to be decided on."""
        return next_write(attempt)

    def describe_exit(
        self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts
    ) -> Iterator[Line]:
        """Say which refused write ends the attempt."""
        if trigger is Trigger.REJECTED:
            yield from describe_rejection(attempt)

    def can_read_aside(self, attempt: Attempt) -> bool:
        """Tell whether all writes have been sent."""
        return not attempt.writes.queue


def _answer_rejection(attempt: Attempt) -> Trigger:
    changed = any(written.changed for written in attempt.ledger.written.values())
    back = changed and has_writes_back(attempt, attempt.workloads.rollouts)
    return Trigger.RETREAT if back else Trigger.REJECTED
