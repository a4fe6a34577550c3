"""The behaviour of each state; which trigger leads where is in `attempt.transitions`."""

from __future__ import annotations

from collections.abc import Mapping

from gate.core.attempt.transitions import State
from gate.core.states.awaiting import Awaiting
from gate.core.states.baking import Baking
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.closing import Closing, Ended
from gate.core.states.confirming import Confirming
from gate.core.states.following import Following
from gate.core.states.inspecting import Inspecting
from gate.core.states.recording import Recording
from gate.core.states.writing import Writing

STATES: Mapping[State, StateBehaviour] = {
    State.RECORDING: Recording(),
    State.WRITING: Writing(),
    State.AWAITING: Awaiting(),
    State.FOLLOWING: Following(),
    State.BAKING: Baking(),
    State.CONFIRMING: Confirming(),
    State.INSPECTING: Inspecting(),
    State.CLOSING: Closing(),
    State.ENDED: Ended(),
}
