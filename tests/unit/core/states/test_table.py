"""The states and the table of transitions agree on what may happen where."""

from __future__ import annotations

import pytest

from gate.core.attempt.transitions import TRANSITIONS, State, Trigger
from gate.core.plan.leg import Leg
from gate.core.states.table import STATES

FROM_OUTSIDE = {Trigger.LOST, Trigger.INTERRUPTED, Trigger.DEPARTED}
"""What `interference` derives in any state that is not final."""


def test_every_state_has_a_behaviour() -> None:
    """No state of the table is without one, in the table's order."""
    assert list(STATES) == list(State)


@pytest.mark.parametrize("leg", Leg)
def test_what_comes_from_outside_ends_every_state_that_is_not_final(leg: Leg) -> None:
    """The table has those transitions exactly where the state lets them be derived."""
    table = TRANSITIONS[leg]
    ended = {state for state in table if set(table[state]) >= FROM_OUTSIDE}
    touched = {state for state in table if set(table[state]) & FROM_OUTSIDE}
    assert ended == touched == {state for state in table if not STATES[state].is_final}


def test_nothing_is_written_before_the_record_or_after_writing() -> None:
    """Only the states that lead to the end of the writes have any ahead."""
    ahead = [state for state in State if STATES[state].has_writes_ahead]
    assert ahead == [State.RECORDING, State.WRITING, State.AWAITING]
