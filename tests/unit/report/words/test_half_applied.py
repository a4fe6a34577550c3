"""What is said of an apply that did not come to all its writes: nothing of what it never wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import Interrupted
from gate.core.rollout.policy import OnInterrupt, Policy, Response
from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from gate.report.words.facts import (
    sentence,
)
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import lost, rejected
from tests.unit.core.server import Server
from tests.unit.core.world import WEB, config_ref
from tests.unit.report.endings import ReportPlayer
from tests.unit.report.results import result_of_player

ONE = (config("b"), manifest("v2"))
TWO = (*ONE, manifest("v2", "api"))
Ended = Callable[[], ReportPlayer]


def serving(*names: str) -> Server:
    """Return a server on which these Deployments run v1, with a ConfigMap."""
    server = Server()
    server.put(config("a"))
    for name in names:
        server.put(manifest("v1", name))
    return server


def cut_off(server: Server, *bodies: Mapping[str, Any], after: int = 1) -> ReportPlayer:
    """Have the server refuse for good what comes after so many writes."""
    player = ReportPlayer(server, *bodies)
    player.bend(Write, lambda player, write: player.answer(write), times=after)
    player.bend(Write, rejected)
    player.run()
    return player


def meddled(fields: dict[str, Any] | None, *bodies: Mapping[str, Any]) -> ReportPlayer:
    """Let somebody change `web`, or delete it, right before it is written."""
    player = ReportPlayer(serving("web", "api"), *bodies)
    player.run(lambda attempt: config_ref() in attempt.ledger.written)
    if fields is None:
        player.server.remove(WEB)
    else:
        player.server.edit(WEB, "kubectl-edit", fields)
    player.run()
    return player


def interrupted(server: Server) -> ReportPlayer:
    """Let a signal come while the ConfigMap is written."""
    player = ReportPlayer(server, *ONE)
    player.run(lambda attempt: attempt.awaits(Write))
    player.hear(Interrupted(player.attempt.now, 15))
    player.run()
    return player


def interrupted_in_doubt(server: Server) -> ReportPlayer:
    """Let a signal come while it is read whether a write was done whose answer was lost."""
    player = ReportPlayer(
        server, *ONE, policy=Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK))
    )
    player.bend(Write, lambda player, write: player.answer(write))
    player.bend(Write, lambda player, write: lost(player, write, done=False))
    player.hold = (Read,)
    player.run(at_most=player.attempt.now)
    player.hear(Interrupted(player.attempt.now, 15))
    player.run()
    return player


HALF = "the apply was rejected half-way; what was written"
BEFORE = "the apply was rejected half-way; what it changed"
UNDONE = (
    "runs revision 3 (was revision 1), shop/web:v1 (replicaset/web-1); "
    "undone revision 2, shop/web:v2 (replicaset/web-2)"
)
CASES: dict[str, tuple[Ended, int, str, str, str]] = {
    "rejected-behind-one": (
        lambda: cut_off(serving("web", "api"), *TWO, after=2),
        4,
        f"{HALF} went back; deployment/api was never written",
        "web baseline, api baseline",
        UNDONE,
    ),
    "rejected-first": (
        lambda: cut_off(Server(), *ONE),
        6,
        f"{HALF} stands, without deployment/web",
        "web other",
        "runs nothing: it was not written; wanted shop/web:v2",
    ),
    "rejected-beside-created": (
        lambda: cut_off(serving("web"), *TWO, manifest("v1", "zone"), after=3),
        4,
        f"{BEFORE} went back; deployment/api, created by it, stays",
        "web baseline, api new, zone other",
        UNDONE,
    ),
    "rejected-new": (
        lambda: cut_off(serving(), *ONE),
        4,
        f"{HALF} went back; deployment/web was never written",
        "web other",
        "runs nothing: it was not written; wanted shop/web:v2",
    ),
    "paused-of-two": (
        lambda: meddled({"spec.paused": True}, *TWO),
        8,
        "somebody else changed deployment/web; nothing was written to it after that",
        "web baseline, api baseline",
        "runs revision 1, shop/web:v1 (replicaset/web-1); wanted shop/web:v2",
    ),
    "changed": (
        lambda: meddled({IMAGE: "shop/web:hotfix"}, *ONE),
        8,
        "somebody else changed deployment/web, which was left alone",
        "web other",
        "runs what somebody else applied; wanted shop/web:v2",
    ),
    "deleted": (
        lambda: meddled(None, *ONE),
        8,
        "somebody else deleted deployment/web, which was not created again",
        "web other",
        "runs nothing: it was deleted, and no pod of it was left; wanted shop/web:v2",
    ),
    "interrupted-first": (
        lambda: interrupted(Server()),
        143,
        "by SIGTERM; the rollout was left as it is",
        "web other",
        "runs nothing: it was not written; wanted shop/web:v2",
    ),
    "interrupted-in-doubt": (
        lambda: interrupted_in_doubt(serving()),
        143,
        "by SIGTERM; the rollback was written, not verified",
        "web other",
        "runs unknown: whether it was written is not known; wanted shop/web:v2",
    ),
}


@pytest.mark.contract("B32", "B182")
@pytest.mark.parametrize("name", CASES)
def test_what_was_never_written_neither_ran_nor_failed(name: str) -> None:
    """The document, the first line and the rows say the same, and no more than was seen."""
    ended, code, said, running, rows = CASES[name]
    result = result_of_player(ended())
    assert result["exit_code"] == code
    assert sentence(result) == said
    runs = ", ".join(f"{one['name']} {one['running']}" for one in result["workloads"])
    assert runs == running
    lines = [line.strip() for line in verdict_text(result, Style()).splitlines()]
    labels = ("runs ", "wanted ", "undone ", "failed ", "applied ")
    shown = [re.sub(" +", " ", line) for line in lines if line.startswith(labels)]
    shown = [line for line in shown if not line.startswith("failed deployment/")]
    assert "; ".join(shown) == rows


@pytest.mark.contract("B32", "B182")
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("rej", "pau"))])
def test_nothing_is_waited_for_that_needs_no_rollback(name: str) -> None:
    """What was never written and serves as before is complete, also where it is paused."""
    attempt = CASES[name][0]().attempt
    assert attempt.now - attempt.course.leg_at <= 1.0
