"""What a rollout keeps while it takes in what is seen."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from gate.core.model.objects import Watched
from gate.core.rollout.judge import Rollout
from gate.core.rollout.total_budget import TotalBudget
from tests.unit.core.world import Scene, after, deployment, later, pod, replica_set

KEPT = {"applied", "policy", "budget", "deadline_decides"}
MOVING = {"snapshot", "progress", "settled", "hindrances", "new", "blindness"}


@pytest.mark.parametrize("thing", [deployment(), replica_set(), pod()], ids=["web", "set", "pod"])
def test_what_it_was_told_at_its_start_stays(thing: Watched) -> None:
    """Its limits and what was applied, whatever is seen; the rest follows from what is."""
    begun = Scene().seen()
    told = replace(begun, budget=TotalBudget(77.0, begins_at=-3.0), deadline_decides=False)
    moved = after(told, 5.0, later(thing, 300))
    assert moved is not told
    assert {field.name for field in fields(Rollout)} == KEPT | MOVING
    assert all(getattr(moved, name) == getattr(told, name) for name in KEPT)
    assert moved.settled
