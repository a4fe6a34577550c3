"""The objects beside the workloads that an attempt waits for at present."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.objects import Ref
from gate.core.model.readiness import NOT_THERE, Readiness


def readiness_of(attempt: Attempt, ref: Ref) -> Readiness:
    """Return what the latest read or write of an object showed."""
    live = attempt.ledger.live.get(ref)
    return live.readiness if live is not None else NOT_THERE


def find_awaited(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects that are waited for now, in the order of application.

    Followed workloads are none of them: the judge waits for these.
    """
    if attempt.course.state is not State.AWAITING or not attempt.writes.queue:
        return ()
    return tuple(
        ref
        for ref in attempt.writes.queue[0].needs
        if attempt.plan.phase_of(ref) is None and readiness_of(attempt, ref).is_waited_for
    )
