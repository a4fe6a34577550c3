"""A gate that dies anywhere in an apply that keeps or pauses what fails: no half of it stays."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from gate.core.model.outcome import Outcome
from gate.core.plan.journal_record import Record
from gate.core.rollout.policy import OnFailure, Policy, Response
from tests.long import longer
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player
from tests.unit.core.recovery.test_resumption import (
    VERSION_2,
    Dying,
    images,
    plan_of,
    resumed,
    serving,
)
from tests.unit.core.server import Server
from tests.unit.core.world import config_ref

OLD, NEW = ({"shop/web:v1"}, "a"), ({"shop/web:v2"}, "b")
WHOLE = {Outcome.VERIFIED: NEW, Outcome.FAILED: NEW, Outcome.ROLLED_BACK: OLD}
KEPT = pytest.mark.parametrize("on_failure", [OnFailure.KEEP, OnFailure.PAUSE])
BEHAVIOURS = pytest.mark.parametrize("behaviour", ["good", "crash"])


def what_runs(server: Server) -> tuple[set[str], str]:
    """Return the images of the templates and the mode of the ConfigMap."""
    return images(server), str(server.stored[config_ref()].leaves["data.mode"])


def deaths(behaviour: str, on_failure: OnFailure) -> Iterator[tuple[Server, Record]]:
    """Iterate what a gate leaves that ends after one answer, after two, and so on."""
    for answers in range(1, 1000):
        server = serving()
        server.behaviour["shop/web:v2"] = behaviour
        player = Dying(
            server,
            plan_of(server, *VERSION_2, policy=Policy(response=Response(on_failure=on_failure))),
        )
        if not player.die_after(answers):
            return
        assert player.record is not None
        yield server, player.record


def assert_whole(player: Player) -> None:
    """Assert that what runs is one version, and the one that the outcome names."""
    outcome = player.attempt.outcome
    assert outcome in WHOLE
    assert what_runs(player.server) == WHOLE[outcome]


@pytest.mark.contract("B32", "B530", "B531")
@BEHAVIOURS
@KEPT
def test_a_death_anywhere_leaves_no_half(behaviour: str, on_failure: OnFailure) -> None:
    """What is complete is judged and stays; a part of it goes back whatever was asked for."""
    parts = 0
    for server, record in deaths(behaviour, on_failure):
        is_part = 0 < len(server.done) < len(VERSION_2)
        plan = resumed(server, record)
        if plan is None:
            assert what_runs(server) == OLD
            continue
        player = Player(server, plan)
        player.run()
        assert_whole(player)
        if is_part:
            assert player.attempt.outcome is Outcome.ROLLED_BACK
            parts += 1
    assert parts == len(VERSION_2) - 1


@pytest.mark.contract("B32", "B532")
@pytest.mark.parametrize("behaviour", ["good", longer("crash")])
@KEPT
def test_a_second_death_leaves_no_half(behaviour: str, on_failure: OnFailure) -> None:
    """Whoever finishes the attempt dies as well: the next one takes back what was to go back."""
    second_deaths = 0
    for left, record in deaths(behaviour, on_failure):
        for answers in range(1, 1000):
            server = copy.deepcopy(left)
            plan = resumed(server, record)
            if plan is None:
                break
            finishing = Dying(server, plan)
            if not finishing.die_after(answers):
                break
            again = resumed(server, finishing.record or record)
            assert again is not None
            player = Player(server, again)
            player.run()
            assert_whole(player)
            second_deaths += 1
    assert second_deaths > len(VERSION_2)


@pytest.mark.contract("B530")
@pytest.mark.parametrize("writes", [0, 1])
def test_a_death_before_any_change_is_not_said_to_be_rolled_back(writes: int) -> None:
    """The configuration is as it will be: its write changes nothing, done or not."""
    server = serving()
    server.put(config("b"))
    player = Dying(server, plan_of(server, *VERSION_2))
    player.run(lambda _: player.record is not None and len(server.done) == writes)
    assert player.record is not None
    assert resumed(server, player.record) is None
    assert what_runs(server) == ({"shop/web:v1"}, "b")


@pytest.mark.contract("B530")
def test_a_version_that_did_not_serve_and_was_not_written_is_nobody_elses() -> None:
    """Its ConfigMap goes back; nobody has made the Deployment again."""
    server = Server(v1="crash")
    for body in (config("a"), manifest("v1")):
        server.put(body)
    player = Dying(server, plan_of(server, config("b"), manifest("v2")))
    player.run(lambda _: len(server.done) == 1)
    assert player.record is not None
    assert all(followed.baseline is None for followed in player.record.followed)
    plan = resumed(server, player.record)
    assert plan is not None
    again = Player(server, plan)
    again.run()
    assert again.attempt.outcome is Outcome.ROLLED_BACK
    assert what_runs(server) == OLD
