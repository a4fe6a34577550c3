"""A move of the model: its name, and how the world comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gate.core.attempt.state import Attempt
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Effect, Write
from gate.core.protocol.events import AttemptEvent
from gate.core.steps.step import step
from tests.model.cluster import Cluster
from tests.model.serving import pruned
from tests.model.world import RESUMABLE, Flight, Stepped, World


class Move(NamedTuple):
    """One thing that may happen; `make` returns what comes of it."""

    name: str
    make: Callable[[], Stepped]


def alive(world: World) -> Attempt | None:
    """Return the attempt that runs, if one does."""
    attempt = world.attempt
    return None if attempt is None or attempt.ended else attempt


def deciding(world: World) -> Attempt | None:
    """Return the attempt that runs and has no verdict yet."""
    attempt = alive(world)
    return None if attempt is None or attempt.result.verdict_at is not None else attempt


def running(world: World) -> Attempt:
    """Return the attempt, where there has to be one."""
    assert world.attempt is not None, "nobody is there to hear it"
    return world.attempt


def heard(world: World, *events: AttemptEvent) -> Stepped:
    """Let the attempt hear events, one after another."""
    attempt = running(world)
    asked: tuple[Effect, ...] = ()
    for event in events:
        attempt, more = step(attempt, event)
        asked += more
    return took_off(Stepped(world._replace(attempt=attempt), asked))


def took_off(stepped: Stepped) -> Stepped:
    """Put the writes that were asked for on their way, and forget what nobody waits for."""
    world, asked = stepped.world, stepped.asked
    attempt = world.attempt
    if attempt is None:
        return stepped
    back = attempt.course.leg is Leg.BACK
    sent = tuple(Flight(one, back, world.number) for one in asked if isinstance(one, Write))
    waiting = attempt.requests.outstanding
    flights = tuple(
        one if one.late or one.write.effect_id in waiting else one._replace(late=True)
        for one in (*world.flights, *sent)
        if one.late or one.answer is None or one.write.effect_id in waiting
    )
    again = "soon" if attempt.ended and _is_followed_by_another(attempt) else world.again
    deaf = tuple(effect_id for effect_id in world.deaf if effect_id in waiting)
    return Stepped(pruned(world._replace(flights=flights, again=again, deaf=deaf)), asked)


def _is_followed_by_another(attempt: Attempt) -> bool:
    """Tell whether the pipeline goes on: an apply after a recovery, anything after an open end."""
    return attempt.plan.resumed is not None or attempt.outcome in RESUMABLE


def changed(world: World, cluster: Cluster) -> Stepped:
    """Let the cluster become another one, of which the attempt hears later or never."""
    return Stepped(pruned(world._replace(cluster=cluster)))
