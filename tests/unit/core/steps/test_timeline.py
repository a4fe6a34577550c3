"""The timeline tells each change once, in words that a reader can act on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.protocol.effects import Write
from gate.core.protocol.events import (
    AttemptEvent,
    ContactLost,
    ContactRestored,
    Interrupted,
    WriteUncertain,
)
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Policy
from tests.table import each
from tests.unit.core import world
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Bent, Player, planned, serving

SHED, DOWN = "429 Too Many Requests", "503 Service Unavailable"


def rolling(what: str = "stuck", policy: Policy | None = None) -> Player:
    """Begin to roll v2 out over a v1 that serves."""
    server = serving(config("a"), v2=what)
    return Player(server, planned(server, config("b"), manifest("v2"), policy=policy))


def lines(player: Player, event: str) -> list[str]:
    """Return the lines of one kind."""
    return [line.message for line in player.said if line.event == event]


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


def test_a_denial_is_told_of_the_deployment_that_it_is_about() -> None:
    """The ReplicaSet of one Deployment is not told as trouble of another one."""
    server = serving(manifest("v1", "api"), v2="stuck", v3="stuck")
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
        ("the API server is unreachable: refused; the gate goes on, and asks again"),
        "the API server serves requests again",
    ]
    assert lines(player, "signal") == ["SIGTERM received"]


@pytest.mark.contract("B1631")
@each(
    ("answers", "said"),
    [
        (("",), "the API server is unreachable: no"),
        ((SHED,), f"requests to the API server have got only {SHED} for 9 s: no"),
        ((DOWN, SHED), f"requests to the API server have got only {SHED} or {DOWN} for 9 s: no"),
        (("", SHED), f"requests to the API server have got {SHED}, or no answer, for 9 s: no"),
    ],
)
def test_a_server_that_answers_is_not_said_to_be_unreachable(
    answers: tuple[str, ...], said: str
) -> None:
    """What came, and since when no request has succeeded, up to now; and so does the end."""
    player = rolling()
    player.run_to(State.FOLLOWING)
    now = player.attempt.now
    player.hear(ContactLost(now, "no", 9.0, answers))
    assert lines(player, "contact") == [f"{said}; the gate goes on, and asks again"]
    contact = player.attempt.interference.contact
    assert contact.describe_trouble(now + 20.0) == said.replace(" 9 s", " 29 s")
    assert contact.trouble is not None
    ends = said.replace(" to the API server have", "").replace(" for 9 s", "")
    assert contact.trouble.why == (ends if any(answers) else "no")


def unclear(why: str, answer: str) -> Bent:
    """Answer a write with an error, or with nothing."""

    def bent(player: Player, effect: Write) -> AttemptEvent:
        return WriteUncertain(player.attempt.now, effect.effect_id, why, answer=answer)

    return bent


@pytest.mark.contract("B1701")
def test_what_a_write_gets_in_place_of_an_answer_is_told_once_until_it_changes() -> None:
    """A server that answers has its words told; only where nothing came the answer was lost."""
    player = rolling()
    player.bend(Write, unclear("no webhook", SHED), times=3)
    player.bend(Write, unclear("reset", ""))
    player.bend(Write, unclear("refused", ""))
    player.bend(Write, unclear("late", DOWN))
    player.run_to(State.FOLLOWING)
    said = "configmap/settings: the server answered with"
    assert lines(player, "retry") == [
        f"{said} {SHED}: no webhook; reading again",
        "configmap/settings: its answer was lost; reading again",
        f"{said} {DOWN}: late; reading again",
    ]
