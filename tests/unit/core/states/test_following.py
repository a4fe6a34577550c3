"""What a way back follows beside what it writes, and what it leaves to others."""

from __future__ import annotations

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome, Reason
from gate.core.rollout.policy import Budgets, Policy
from tests.unit.core.leaves import IMAGE, config, manifest, ref_of
from tests.unit.core.player import Player, ends, planned, serving
from tests.unit.core.world import WEB

API = ref_of(manifest("v1", "api"))
SHORT = Budgets(bake_seconds=60.0, rollback_timeout_seconds=60.0)


@pytest.mark.contract("B133")
def test_a_deployment_that_did_not_change_is_judged_with_its_configuration_of_before() -> None:
    """Its pods fail of what they took, and go on to fail: it does not serve again."""
    server = serving(config("a"))
    policy = Policy(budgets=SHORT)
    player = Player(server, planned(server, config("b"), manifest("v1"), policy=policy))
    player.pass_to(player.attempt.now + 10.0)
    player.behave("crash", "v1")
    attempt = player.run()
    assert WEB in attempt.workloads.rollouts
    assert ends(attempt) == (5, Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP)


@pytest.mark.contract("B30", "B27")
def test_what_others_took_over_is_not_followed_on_the_way_back() -> None:
    """It was applied without a change, and somebody else has brought another version since."""
    server = serving(manifest("v1", "api"), v2="stuck")
    player = Player(server, planned(server, manifest("v1", "api"), manifest("v2")))
    player.run_to(State.FOLLOWING)
    server.edit(API, "kubectl-set", {IMAGE: "shop/web:v9"})
    server.control(API)
    player.news()
    player.behave("crash", "v2")
    player.run()
    assert set(player.attempt.workloads.rollouts) == {WEB}
    assert player.attempt.result.endings[API].outcome is Outcome.SUPERSEDED
    assert player.attempt.result.endings[WEB].outcome is Outcome.ROLLED_BACK
