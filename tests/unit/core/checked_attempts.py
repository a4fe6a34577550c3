"""Attempts with health checks: how one begins, what they measure, and what they were asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gate.core.checks.questions import Answers, Errored
from gate.core.checks.spec import Check
from gate.core.protocol.effects import Ask
from gate.core.rollout.policy import Budgets, Policy, Response
from tests.unit.core.checks_world import a_check, answer, metric
from tests.unit.core.player import STARTED_AT, Player, rolling_out

WINDOW = 60.0


FIXED = metric(text="sum(errors)")
"""A query that asks for no version and no window: it can be asked from the first moment on."""


def policy(*checks: Check, bake: float = WINDOW, **response: Any) -> Policy:
    """Return a policy with these checks and a bake window."""
    budgets = Budgets(bake_seconds=bake)
    return Policy(budgets, response=Response(**response), checks=checks)


def rolled_out(limits: Policy, *, measure: Any = 0.0, **behaviour: str) -> Player:
    """Begin to roll v2 out over a v1 that serves; every check measures `measure`."""
    player = rolling_out(policy=limits, **behaviour)
    player.measure = always(measure)
    return player


def always(said: Any) -> Callable[[Ask], Answers | Errored]:
    """Answer each question alike: a number, nothing (None), or an error."""

    def measure(_: Ask) -> Answers | Errored:
        if isinstance(said, Errored | Answers):
            return said
        return answer() if said is None else answer(said)

    return measure


def asks(player: Player) -> list[tuple[str, float]]:
    """Return the names and times, since the start, of all that was asked."""
    sent = player.asked(Ask)
    return [(ask.check, ask.tick.at - STARTED_AT) for ask in sent]


def check(name: str = "errors", **more: Any) -> Check:
    """Return a check that can be asked at any time."""
    return replace(a_check(FIXED), name=name, **more)
