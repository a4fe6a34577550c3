"""RETREAT: what the timeline says of a rollback that starts."""

from __future__ import annotations

import pytest

from gate.core.rollout.policy import OnFailure, OnFirstFailure, Policy
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, planned
from tests.unit.core.server import Server
from tests.unit.core.steps.test_timeline import lines, rolling

WAYS = [
    (
        Policy(),
        "restoring configmap/settings; returning deployment/web to revision 1 (shop/web:v1)",
    ),
    (Policy(on_failure=OnFailure.PAUSE), "pausing deployment/web"),
]


@pytest.mark.parametrize(("policy", "line"), WAYS)
def test_the_way_back_is_told_before_it_is_taken(policy: Policy, line: str) -> None:
    """What failed, then what is done about it."""
    player = rolling("crash", policy)
    player.run()
    events = [line.event for line in player.said]
    assert events.index("failed") < events.index("rollback")
    assert lines(player, "rollback") == [line]
    assert "CrashLoop" in lines(player, "failed")[0]


@pytest.mark.parametrize(
    ("policy", "line", "done"),
    [
        (OnFirstFailure.SCALE_TO_ZERO, "scaling deployment/web to zero", "patched"),
        (OnFirstFailure.DELETE, "deleting deployment/web", "deleted"),
    ],
)
def test_what_a_first_failure_does_is_told(policy: OnFirstFailure, line: str, done: str) -> None:
    """Scaled and deleted are not called a return."""
    server = Server(v1="crash")
    plan = planned(server, manifest("v1"), policy=Policy(on_first_failure=policy))
    player = Player(server, plan)
    player.run()
    assert lines(player, "rollback") == [line]
    assert len(lines(player, done)) == 1
