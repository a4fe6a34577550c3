"""The timeline tells each change once, in words that a reader can act on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import (
    ContactLost,
    ContactRestored,
    Interrupted,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Policy
from tests.unit.core import world
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player, planned
from tests.unit.core.server import Server


def rolling(what: str = "stuck", policy: Policy | None = None) -> Player:
    """Begin to roll v2 out over a v1 that serves."""
    server = Server(v2=what)
    server.put(manifest("v1"))
    server.put(config("a"))
    return Player(server, planned(server, config("b"), manifest("v2"), policy=policy))


def lines(player: Player, event: str) -> list[str]:
    """Return the lines of one kind."""
    return [line.message for line in player.said if line.event == event]


def test_writes_and_progress_are_told_once() -> None:
    """What was applied, what is followed, how far it is."""
    player = rolling("good")
    player.run()
    assert lines(player, "applied") == ["configmap/settings changed", "deployment/web changed"]
    assert lines(player, "replicaset") == [
        "deployment/web: following replicaset/web-2 (shop/web:v2)"
    ]
    progress = lines(player, "progress")
    assert len(progress) == len(set(progress)) > 0
    assert progress[-1] == "deployment/web: 4 of 4 new pods available"


@pytest.mark.contract("B747")
def test_a_replica_set_that_is_used_again_says_its_new_revision() -> None:
    """What was followed as revision 1 is named as revision 3 in the verdict."""
    player = rolling("crash")
    player.run()
    followed = lines(player, "replicaset")[1:]
    assert followed == [
        "deployment/web: following replicaset/web-1 (shop/web:v1), revision 1",
        "deployment/web: replicaset/web-1 is revision 3 now, was revision 1",
    ]


@pytest.mark.contract("B173")
def test_created_changed_and_unchanged_are_told_apart() -> None:
    """By what the server had before."""
    server = Server()
    server.put(config("a", "same"))
    server.put(config("a", "other"))
    bodies = config("a", "same"), config("b", "other"), config("a", "new")
    player = Player(server, planned(server, *bodies))
    player.run()
    assert lines(player, "applied") == [
        "configmap/same unchanged",
        "configmap/other changed",
        "configmap/new created",
    ]


def test_a_pods_trouble_is_told_once_a_cause() -> None:
    """Restarts count up without a line each; another cause is news; not being ready is not."""
    player = rolling()
    player.run_to(State.FOLLOWING)
    owner = player.attempt.workloads.rollouts[player.web].followed_uid
    one = world.pod(7, world.container(ready=False), owner_uid=owner)
    killed = world.crashing(2, last_terminated=world.terminated("OOMKilled", 137))
    for version, status in enumerate(
        (world.crashing(1), world.crashing(2), killed, world.container()), start=5000
    ):
        seen = replace(one, containers=(status,), resource_version=str(version))
        player.hear(Observed(player.attempt.now, seen))
    assert lines(player, "pod") == [
        "pod/web-2-p7: CrashLoop: web: Error, exit code 1, 1 restart",
        "pod/web-2-p7: OutOfMemory: web: OOMKilled, exit code 137, 2 restarts",
    ]


def test_pods_of_the_old_version_are_not_told_of() -> None:
    """Their trouble is another story."""
    player = rolling()
    player.run_to(State.FOLLOWING)
    player.behave("crash", "v1")
    assert not lines(player, "pod")


def test_a_denial_is_told_with_the_servers_words() -> None:
    """Once for each ReplicaSet."""
    player = rolling("denied")
    player.run()
    assert lines(player, "denied") == [
        "deployment/web: replicaset/web-2: denied the request: not here"
    ]


def test_a_denial_is_told_of_the_deployment_that_it_is_about() -> None:
    """The ReplicaSet of one Deployment is not told as trouble of another one."""
    server = Server(v2="stuck", v3="stuck")
    server.put(manifest("v1"))
    server.put(manifest("v1", "api"))
    player = Player(server, planned(server, manifest("v2"), manifest("v3", "api")))
    player.run_to(State.FOLLOWING)
    player.behave("denied", "v2")
    assert lines(player, "denied") == [
        "deployment/web: replicaset/web-2: denied the request: not here"
    ]


@pytest.mark.contract("B29")
def test_contact_and_signals_are_told() -> None:
    """Lost once, back once, and which signal it was."""
    player = rolling()
    player.run_to(State.FOLLOWING)
    now = player.attempt.now
    for event in (
        ContactLost(now, "refused"),
        ContactLost(now, "refused"),
        ContactRestored(now),
        ContactRestored(now),
        Interrupted(now, 15),
        Interrupted(now, 2),
    ):
        player.hear(event)
    assert lines(player, "contact") == [
        "the API server is unreachable: refused",
        "the API server answers again",
    ]
    assert lines(player, "signal") == ["SIGTERM received"]


def test_writes_that_are_decided_again_are_told_with_their_reason() -> None:
    """A conflict and a lost answer are different news."""
    player = rolling("good")
    player.bend(Write, lambda p, e: WriteConflicted(p.attempt.now, e.effect_id))
    player.bend(Write, lambda p, e: WriteUncertain(p.attempt.now, e.effect_id, "reset"))
    player.run()
    assert lines(player, "retry") == [
        "configmap/settings: it changed since it was read; reading again",
        "configmap/settings: its answer was lost; reading again",
    ]


def test_a_refusal_that_is_looked_into_is_told_as_what_it_is() -> None:
    """Nobody has changed the Deployment: the server refused it."""
    server = Server()
    for body in (config("a"), manifest("v1")):
        server.put(body)
    player = Player(server, planned(server, config("b"), manifest("v2")))
    player.bend(Write, lambda p, e: p.answer(e))
    player.bend(
        Write,
        lambda p, e: WriteRejected(p.attempt.now, e.effect_id, Reason.REJECTED, CleanText("no")),
    )
    player.run()
    assert lines(player, "retry") == ["deployment/web: the server refused it; reading again"]


def test_a_line_has_the_time_of_what_it_tells() -> None:
    """Virtual seconds of the attempt."""
    player = rolling("good", Policy(bake_seconds=60.0))
    player.run()
    (baking,) = [line for line in player.said if line.event == "baking"]
    assert (baking.at, baking.message) == (100.0, CleanText("complete; watching for another 60 s"))
