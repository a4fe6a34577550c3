"""RECORDING: the record names all writes of the leg before the first is sent."""

from __future__ import annotations

from gate.core.attempt.record import record_now
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.model.field_manager import Verb
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import SaveRecord
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.verdicts import Verdicts
from gate.core.writes.other_users import find_users


class Recording(StateBehaviour):
    """Waits until the record is saved; nothing of the leg is written before that."""

    has_writes_ahead = True

    def enter(self, attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Ask for the record to be saved, and after a signal who uses what is about to go back.

        There is little time then. Else that is asked once the record is saved: of two attempts that
        go back in the same moment at least one then finds that the other does.
        """
        effect = SaveRecord(attempt.requests.next_id, record_now(attempt))
        attempt = attempt.with_effect(effect)
        is_signalled = attempt.interference.signal_number is not None
        if attempt.course.leg is Leg.FORWARD or not is_signalled:
            return attempt, (effect,)
        attempt, questions = find_users(attempt, Verb.APPLY)
        return attempt, (effect, *questions)

    def next_trigger(self, attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        """Go on once the record is saved."""
        return None if attempt.awaits(SaveRecord) else Trigger.RECORDED
