"""Courses in which two things go wrong at once, gone to their ends, held to every invariant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.outcome import Outcome
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, RemovePod, SaveRecord
from tests.model import cluster as rules
from tests.model.attempts import first_world
from tests.model.configuration import SETTINGS
from tests.model.course import usual
from tests.model.invariants import wrong, wrong_at_rest
from tests.model.moves import moves
from tests.model.scenes import scene
from tests.model.stepping import Move, running
from tests.model.world import Scene, World

SENT = ("an attempt begins", "SaveRecord is answered")
DONE = (*SENT, "the server does the write")
LOST = "the answer to the write is lost"


class Walk:
    """A world that goes on move by move, and what was wrong on its way."""

    def __init__(self, name: str) -> None:
        """Begin a scene."""
        self.scene: Scene = scene(name)
        self.world: World = first_world(self.scene)
        self.wrong: list[str] = []

    def take(self, move: Move) -> None:
        """Go one move on."""
        stepped = move.make()
        self.wrong += wrong(self.world, stepped)
        self.world = stepped.world

    def go(self, *names: str) -> None:
        """Go on by the names of moves."""
        for name in names:
            found = {move.name: move for move in moves(self.world, self.scene)}
            assert name in found, f"{name!r} is none of {sorted(found)}"
            self.take(found[name])

    def course(self) -> Iterator[World]:
        """Go on by the usual course, and iterate the worlds before each of its moves."""
        while (move := next(usual(self.world, self.scene), None)) is not None:
            yield self.world
            self.take(move)
        self.wrong += wrong_at_rest(self.world)

    def ends(self) -> Outcome:
        """Go to the end, where nothing may have been wrong, and return the last outcome."""
        assert list(self.course())
        assert self.wrong == []
        return running(self.world).outcome


@pytest.mark.contract("B550", "B551")
@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("first-deleted", DONE),
        ("first-scaled-to-zero", DONE),
        ("paused-on-failure", SENT),
        ("crashing", SENT),
    ],
)
def test_s2_somebody_elses_version_is_not_taken_for_a_write_whose_answer_was_lost(
    name: str, sent: tuple[str, ...]
) -> None:
    """It is neither deleted nor scaled, paused or rolled back: it is theirs."""
    walk = Walk(name)
    walk.go(*sent, LOST, "somebody sets the image to v3")
    assert walk.ends() is Outcome.SUPERSEDED
    assert walk.world.cluster.template.image == "v3"
    assert not walk.world.cluster.paused


@pytest.mark.contract("B550")
def test_s1_a_write_that_was_done_is_not_refused_for_want_of_time() -> None:
    """Its answer is lost when the budget has ended: it is followed, and goes back."""
    walk = Walk("good")
    walk.go(*DONE, "time passes", LOST)
    assert walk.ends() is Outcome.ROLLED_BACK


@pytest.mark.contract("B550")
def test_s1_a_rollback_that_was_done_is_known_by_its_template_alone() -> None:
    """Replicas that somebody else has set meanwhile do not make it theirs."""
    walk = Walk("never-ready")
    back = (
        world for world in walk.course() if world.attempt and world.attempt.course.leg is Leg.BACK
    )
    next(world for world in back if world.flights)
    walk.go("the server does the write", LOST, "somebody scales to 1")
    assert walk.ends() is Outcome.ROLLED_BACK


@pytest.mark.contract("B553")
def test_l2_a_write_of_a_dead_gate_that_comes_late_is_no_obstacle() -> None:
    """What the second attempt finds is what it was about to write."""
    walk = Walk("good")
    walk.go(*SENT, "the gate is killed, and is run again soon", *SENT, "a late write arrives")
    assert walk.ends() is Outcome.VERIFIED


@pytest.mark.contract("B553")
@pytest.mark.parametrize(("name", "outcome"), [("good", "verified"), ("crashing", "rolled-back")])
def test_l2_a_killed_rollout_is_finished_and_tried_again(name: str, outcome: str) -> None:
    """From its record it goes back to what served, and a second apply comes to its own end."""
    walk = Walk(name)
    walk.go(*DONE, "the gate is killed, and is run again soon")
    assert walk.ends().value == outcome
    assert walk.world.number == 3


def dead_beside_its_configuration(name: str) -> Walk:
    """Kill a gate whose write of a ConfigMap is under way, which is written behind the Deployment.

    What finishes it is about to say that all is back.
    """
    walk = Walk(name)
    next(world for world in walk.course() if SETTINGS in [one.write.ref for one in world.flights])
    walk.go("the gate is killed, and is run again soon", "an attempt begins")
    next(world for world in walk.course() if running(world).course.state is State.CONFIRMING)
    return walk


@pytest.mark.contract("B550", "B1113")
@pytest.mark.parametrize("name", ["configured-last", "configured-once"])
def test_s9_a_late_write_of_a_dead_gate_is_not_called_back(name: str) -> None:
    """It is done while the way back is confirmed: the last look finds it, the next run ends it."""
    walk = dead_beside_its_configuration(name)
    walk.go("a late write arrives")
    attempts = (world.attempt for world in walk.course() if world.attempt is not None)
    ended = [attempt.outcome for attempt in attempts if attempt.ended]
    assert ended[0] is Outcome.ROLLBACK_FAILED
    assert (walk.wrong, running(walk.world).outcome) == ([], Outcome.ROLLED_BACK)
    assert walk.world.settings is not None
    assert {key.value for key in walk.world.settings[:2]} == {"v1"}


@pytest.mark.contract("B550", "B1114")
def test_s13_no_pod_is_removed_by_what_could_not_be_read_again() -> None:
    """The read that a removal waits for fails: it is asked again, and then the pod goes."""
    walk = Walk("ordered-crashing")
    decided = (world for world in walk.course() if asks(world, Read, SaveRecord))
    next(decided)
    walk.go("Read fails", "SaveRecord is answered")
    assert not asks(walk.world, RemovePod)
    assert walk.ends() is Outcome.ROLLED_BACK


@pytest.mark.contract("B550", "B1115")
@pytest.mark.parametrize("name", ["ordered", "ordered-crashing"])
def test_s1_a_pod_that_crashes_before_the_last_read_is_not_counted(name: str) -> None:
    """The status of the StatefulSet still counts it; the read that confirms shows the crash."""
    walk = Walk(name)
    confirming = (
        world
        for world in walk.course()
        if asks(world, Read) and rules.serves(world.cluster) and world.cluster.observed > 1
    )
    next(confirming)
    image = walk.world.cluster.template.image
    walk.go(f"a pod of {image} crashes, of all things")
    list(walk.course())
    assert walk.wrong == []


def asks(world: World, *kinds: type[object]) -> bool:
    """Tell whether effects of all these kinds await an answer."""
    attempt = world.attempt
    asked = attempt.requests.outstanding.values() if attempt is not None else ()
    return all(any(isinstance(one, kind) for one in asked) for kind in kinds)
