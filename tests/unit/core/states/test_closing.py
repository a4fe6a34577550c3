"""CLOSING waits for the release of the locks, the longer the more there are."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.protocol.effects import Release
from gate.core.states import closing
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, planned
from tests.unit.core.server import Server

NAMES = [f"web-{number:02}" for number in range(16)]


@pytest.mark.contract("B558")
@pytest.mark.parametrize("left_seconds", [math.inf, 0.5])
def test_the_release_of_many_locks_may_take_longer_within_the_budgets(left_seconds: float) -> None:
    """For each further Deployment there is a tenth of a second, or what is left."""
    server = Server()
    for name in NAMES:
        server.put(manifest("v1", name))
    player = Player(server, planned(server, *(manifest("v2", name) for name in NAMES)))
    player.hold = (Release,)
    player.run_to(State.CLOSING)
    attempt = player.attempt
    used_up = attempt.gives_up_at - left_seconds
    since = attempt.now if math.isinf(left_seconds) else used_up
    attempt = replace(attempt, course=replace(attempt.course, closing_since=since))
    more_seconds = min((len(NAMES) - 1) * 0.1, left_seconds)
    assert closing.closes_at(attempt) == pytest.approx(since + 2.0 + more_seconds)
