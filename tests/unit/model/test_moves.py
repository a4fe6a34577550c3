"""What may happen in the model: every kind of trouble, at the moment when it matters."""

from __future__ import annotations

from collections.abc import Iterator

from tests.model.attempts import first_world
from tests.model.moves import moves
from tests.model.scenes import scene
from tests.model.stepping import alive
from tests.model.world import Scene, World

DEVIATIONS = [
    "Collect is never answered",
    "Read fails",
    "Read is never answered",
    "Release is never answered",
    "SaveRecord is never answered",
    "Write is never answered",
    "a pod of v1 crashes, of all things",
    "a pod of v2 gets ready, of all things",
    "a signal comes",
    "access is withdrawn",
    "contact is lost",
    "some time passes",
    "somebody deletes it",
    "somebody pauses it",
    "somebody restarts the pods",
    "somebody scales to 1",
    "somebody sets the image to v1",
    "somebody sets the image to v2",
    "somebody sets the image to v3",
    "the answer to the write is lost",
    "the controller stops",
    "the deadline is called exceeded",
    "the gate is killed, and is run again late",
    "the gate is killed, and is run again soon",
    "the lock is taken",
    "the watches fall silent",
    "the watches lag behind",
    "the write is refused",
]
CRASHING = scene("crashing")


def course(where: Scene) -> Iterator[World]:
    """Iterate the worlds of the usual course, to its end."""
    world = first_world(where)
    while True:
        yield world
        found = moves(world, where)
        if world.attempt is not None and alive(world) is None:
            return
        world = found[0].make().world


def go(world: World, *names: str, where: Scene = CRASHING) -> World:
    """Return the world after these moves, by the beginnings of their names."""
    for name in names:
        move = next(one for one in moves(world, where) if one.name.startswith(name))
        world = move.make().world
    return world


SENT = ("an attempt begins", "SaveRecord is answered")


def test_all_that_may_deviate_is_tried() -> None:
    """Along one rollout and its rollback each kind of trouble is offered."""
    offered = {move.name for world in course(CRASHING) for move in moves(world, CRASHING)}
    assert [name for name in DEVIATIONS if name not in offered] == []


def test_a_lost_answer_says_nothing_of_the_write() -> None:
    """The server may have done it, may do it yet, or never will."""
    sent = go(first_world(CRASHING), *SENT)
    done = go(sent, "the server does", "the answer to the write is lost")
    lost = go(sent, "the answer to the write is lost")
    late = go(lost, "a late write arrives")
    images = [world.cluster.template.image for world in (done, lost, late)]
    assert images == ["v2", "v1", "v2"]
