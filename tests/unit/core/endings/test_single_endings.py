"""Ends of single workloads beside others, and of an attempt whose lock somebody took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.ending import Ending
from gate.core.attempt.transitions import State
from gate.core.endings.differences import differences
from gate.core.endings.lock_ending import with_lost_lock
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import LeaseLost
from gate.core.rollout.policy import OnFirstFailure, Policy, Response
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import Player, ending_of, ends, planned, rejected, rolling_out, serving
from tests.unit.core.server import Server
from tests.unit.core.world import WEB

API = ref_of(manifest("v1", "api"))


@pytest.mark.contract("B1276", "B524")
def test_a_lock_that_is_lost_in_the_end_leaves_a_failure_that_was_seen() -> None:
    """Whoever took it cannot have undone that; what runs otherwise is in doubt."""
    failed = Ending(Outcome.FAILED, Reason.CRASH_LOOP, CleanText("it crashes"))
    good = Ending(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, CleanText("back"))
    lost = Ending(Outcome.SUPERSEDED, Reason.LOCKED, CleanText("taken"))
    attempt = rolling_out().attempt
    attempt = replace(
        attempt,
        interference=replace(attempt.interference, lock_lost=lost),
        result=replace(
            attempt.result, endings=FrozenMap({WEB: good, API: failed}), ending=good, judged=good
        ),
    )
    ended = with_lost_lock(attempt)
    assert ending_of(ended) == lost
    assert ended.result.endings == FrozenMap({WEB: lost, API: failed})


@pytest.mark.contract("B145", "B524")
def test_after_a_lost_lock_it_is_said_what_this_run_leaves_behind() -> None:
    """Nothing goes back: whoever holds the lock finds this run's configuration."""
    player = rolling_out(config("a"), v2="stuck")
    player.run_to(State.FOLLOWING)
    player.hear(LeaseLost(player.attempt.now, "somebody"))
    attempt = player.run()
    assert ends(attempt) == (8, Outcome.SUPERSEDED, Reason.LOCKED)
    left = [
        f"{name} still has what this run wrote" for name in ("configmap/settings", "deployment/web")
    ]
    assert list(differences(attempt)) == left


@pytest.mark.contract("B32")
def test_what_did_not_change_makes_a_way_back_no_success() -> None:
    """Its pods serve as before: the apply was refused half-way all the same."""
    server = serving(config("a"), manifest("v1", "api"))
    bodies = (config("b"), manifest("v1"), manifest("v2", "api"))
    player = Player(server, planned(server, *bodies))
    player.let_pass(Write, times=2)
    player.bend(Write, rejected)
    attempt = player.run()
    assert attempt.result.endings[WEB].outcome is Outcome.VERIFIED
    assert ends(attempt) == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)


@pytest.mark.contract("B32", "B134")
def test_a_part_of_a_first_version_of_which_nothing_goes_back_is_as_it_failed() -> None:
    """It is scaled to 0, and nothing was there before that serves again."""
    server = Server()
    policy = Policy(response=Response(on_first_failure=OnFirstFailure.SCALE_TO_ZERO))
    bodies = (manifest("v1"), manifest("v1", "api"))
    player = Player(server, planned(server, *bodies, policy=policy))
    player.let_pass(Write)
    player.bend(Write, rejected)
    attempt = player.run()
    assert attempt.result.endings[WEB].outcome is Outcome.FAILED
    assert ends(attempt) == (6, Outcome.FAILED, Reason.APPLY_REJECTED)
