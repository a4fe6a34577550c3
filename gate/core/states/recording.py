"""RECORDING: the record names all writes of the leg before the first is sent."""

from __future__ import annotations

from gate.core.attempt.record import record_now
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.protocol.effects import SaveRecord
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.verdicts import Verdicts


class Recording(StateBehaviour):
    """Waits until the record is saved; nothing of the leg is written before that."""

    has_writes_ahead = True

    def enter(self, attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Ask for the record to be saved."""
        effect = SaveRecord(attempt.requests.next_id, record_now(attempt))
        return attempt.with_effect(effect), (effect,)

    def next_trigger(self, attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        """Go on once the record is saved."""
        return None if attempt.awaits(SaveRecord) else Trigger.RECORDED
