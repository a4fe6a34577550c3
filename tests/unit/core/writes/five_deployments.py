"""An apply of five Deployments, of which the second crashes while others are not written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.plan.journal_record import Record
from gate.core.protocol.effects import SaveRecord
from gate.core.protocol.events import AttemptEvent, Interrupted
from gate.core.rollout.policy import Policy
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, planned
from tests.unit.core.server import Server

GOOD, BAD = "v3", "v2"
NAMES = ("a", "bad", "c", "d", "e")
SIGTERM = 15
UNWRITTEN = "it was not written, since deployment/bad failed: CrashLoop"
"""How the message of what was not written begins."""


def wanted(name: str) -> dict[str, Any]:
    """Return the new version of a Deployment."""
    return manifest(BAD if name == "bad" else GOOD, name)


def applying(
    *others: Mapping[str, Any], policy: Policy | None = None, serve: bool = True, **more: Any
) -> Player:
    """Return an apply of five Deployments, of which the second crashes at once."""
    server = Server(v2="crash")
    for name in NAMES if serve else ():
        server.put(manifest("v1", name))
    plan = planned(server, *others, *map(wanted, NAMES), policy=policy, **more)
    player = Player(server, plan)
    player.news()
    return player


def endings(attempt: Attempt) -> dict[str, Ending]:
    """Return how each Deployment ended, by name."""
    return {ref.name: ending for ref, ending in attempt.result.endings.items()}


def names(player: Player) -> list[str]:
    """Return the objects that a write was sent for, in order."""
    return [write.ref.name for write in player.writes]


def done(player: Player) -> list[str]:
    """Return the objects of every write that the server has done, in order."""
    return [write.ref.name for write in player.server.done]


def said(player: Player, event: str) -> list[str]:
    """Return the lines of the timeline of one event."""
    return [line.message for line in player.said if line.event == event]


def saved_record(player: Player) -> Record:
    """Return the record that a gate has saved last."""
    return next(one.record for one in reversed(player.sent) if isinstance(one, SaveRecord))


def interrupted(player: Player) -> AttemptEvent:
    """Send a signal."""
    return Interrupted(player.attempt.now, SIGTERM)
