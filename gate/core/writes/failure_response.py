"""What the way back was to make of an object, in the word that says that this could not be done."""

from __future__ import annotations

import enum

from gate.core.attempt.parts import Rejection
from gate.core.attempt.state import Attempt
from gate.core.model.field_manager import Verb
from gate.core.rollout.policy import OnFailure


class FailureResponse(enum.StrEnum):
    """How a failure is answered, of one object."""

    RESTORE = "restored"
    PAUSE = "paused"
    SCALE_TO_ZERO = "scaled to zero"
    DELETE = "deleted"


def find_response(attempt: Attempt, refused: Rejection) -> FailureResponse:
    """Return what a write of the way back that was not done was to make of its object."""
    match refused.write.verb if refused.write is not None else Verb.APPLY:
        case Verb.DELETE:
            return FailureResponse.DELETE
        case Verb.MERGE:
            pauses = attempt.plan.policy.response.on_failure is OnFailure.PAUSE
            return FailureResponse.PAUSE if pauses else FailureResponse.SCALE_TO_ZERO
        case _:
            return FailureResponse.RESTORE
