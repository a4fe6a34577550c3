"""The documents show the table that the attempt really walks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.core.attempt.transitions import TRANSITIONS, IllegalTransition, State, Trigger, after
from gate.core.plan.leg import Leg
from tests.unit.core.diagram import mermaid

PAGE = Path(__file__).parents[3] / "docs" / "states.md"


def test_the_documented_diagram_is_the_table() -> None:
    """docs/states.md holds what `python -m tests.unit.core.diagram` prints."""
    _, fence, rest = PAGE.read_text(encoding="utf-8").partition("```mermaid\n")
    assert fence
    assert rest.partition("\n```\n")[0] == mermaid()


def test_every_state_and_trigger_is_explained() -> None:
    """The page names each state; the table uses each trigger somewhere."""
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"**{state.value}**" in page for state in State)
    used = {trigger for leg in Leg for row in TRANSITIONS[leg].values() for trigger in row}
    assert used == set(Trigger)


@pytest.mark.contract("B137")
def test_only_retreat_leaves_a_leg_and_nothing_leads_back() -> None:
    """At most one rollback, by the table alone."""
    ways = [
        (leg, trigger, place[0])
        for leg in Leg
        for row in TRANSITIONS[leg].values()
        for trigger, place in row.items()
        if place[0] is not leg
    ]
    assert set(ways) == {(Leg.FORWARD, Trigger.RETREAT, Leg.BACK)}


def test_what_the_table_does_not_have_is_an_error() -> None:
    """Nothing follows the end."""
    with pytest.raises(IllegalTransition):
        after(Leg.BACK, State.ENDED, Trigger.RETREAT)
