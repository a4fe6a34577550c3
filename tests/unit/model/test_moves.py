"""What may happen in the model: every kind of trouble, at the moment when it matters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.fact import Unknown
from gate.core.plan.leg import Leg
from tests.model.moves import moves
from tests.model.scenes import scene
from tests.model.stepping import alive, running
from tests.model.world import Scene, World, first_world, known_to

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


@pytest.mark.parametrize(
    ("trouble", "after"),
    [
        ("contact is lost", "contact is restored"),
        ("somebody pauses it", "somebody resumes it"),
        ("somebody deletes it", "somebody creates it with v3"),
        ("the answer to the write is lost", "a late write arrives"),
    ],
)
def test_trouble_may_pass(trouble: str, after: str) -> None:
    """What is gone may come back, at any time from then on."""
    world = go(first_world(CRASHING), *SENT, trouble)
    assert after in [move.name for move in moves(world, CRASHING)]


def test_a_lost_answer_says_nothing_of_the_write() -> None:
    """The server may have done it, may do it yet, or never will."""
    sent = go(first_world(CRASHING), *SENT)
    done = go(sent, "the server does", "the answer to the write is lost")
    lost = go(sent, "the answer to the write is lost")
    late = go(lost, "a late write arrives")
    images = [world.cluster.template.image for world in (done, lost, late)]
    assert images == ["v2", "v1", "v2"]


def test_a_late_write_whose_version_is_past_never_arrives() -> None:
    """The server would answer 409 to nobody."""
    lost = go(first_world(CRASHING), *SENT, "the answer to the write is lost")
    assert lost.flights
    assert not go(lost, "somebody scales").flights


def test_a_killed_gate_leaves_its_write_behind() -> None:
    """What was sent may be done after its death; what was answered is."""
    killed = go(first_world(CRASHING), *SENT, "the gate is killed, and is run again late")
    assert killed.attempt is None
    assert go(killed, "a late write arrives").cluster.template.image == "v2"


def test_without_contact_reads_fail_and_nothing_is_watched() -> None:
    """Only time passes, and the gate asks again."""
    written = (*SENT, "the server does", "the write is answered", "the controller acts")
    passed = ("time passes", "time passes")
    world = go(first_world(CRASHING), *written, "contact is lost", *passed)
    assert "the Deployment is watched" not in [move.name for move in moves(world, CRASHING)]
    assert running(go(world, "Read fails")).requests.unreadable


def test_a_lagging_watch_changes_nothing_that_is_known() -> None:
    """What was before the write is older than its answer."""
    steps = (*SENT, "the server does", "the write is answered")
    world = go(first_world(CRASHING), *steps)
    lagged = go(world, "the watches lag behind")
    known = known_to(running(lagged))
    assert not isinstance(known.workload, Unknown)
    assert known.live == known_to(running(world)).live


def test_the_usual_course_rests_only_at_the_end() -> None:
    """It goes there and back, and nothing moves any more when all is quiet."""
    *_, last = course(CRASHING)
    attempt = running(last)
    assert (attempt.course.leg, attempt.course.state) == (Leg.BACK, State.ENDED)
    assert moves(last, CRASHING) == []
