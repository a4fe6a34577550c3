"""The model does what a cluster does where the gate can tell; every kind of trouble may happen."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from tests.model import cluster as rules
from tests.model.attempts import first_world
from tests.model.canonical import digest
from tests.model.cluster import GATE, OTHER, READY, STARTING, Apply, Cluster, Template
from tests.model.moves import moves
from tests.model.scenes import scene
from tests.model.stepping import alive
from tests.model.world import Scene, World


def next_serial(_template: Template, taken: Iterable[int]) -> int:
    """Name pods by counting."""
    return max(taken, default=-1) + 1


def acted(cluster: Cluster, times: int = 1, phase: int = READY) -> Cluster:
    """Let the controller act and pods become something, in turn."""
    for _ in range(times):
        cluster = rules.deployment_controlled(cluster, next_serial)
        for one in cluster.sets:
            for index, pod in enumerate(one.pods):
                if pod.phase == STARTING:
                    cluster = rules.pod_became(cluster, one.template, index, phase)
    return cluster


SERVING = acted(rules.created(Cluster(), GATE, "v1", 2), 4)
WRITTEN = rules.applied(SERVING, Apply("v2", 2))


def test_counters_are_of_the_moment_before_the_controller_scaled() -> None:
    """A generation is observed with the counters of the template before."""
    looked = rules.deployment_controlled(WRITTEN, next_serial)
    assert looked.observed == looked.generation
    assert looked.status.updated == 0
    assert sum(len(one.pods) for one in looked.sets) == 3
    assert looked.status.replicas == 2


def test_what_an_apply_leaves_out_is_owned_no_more() -> None:
    """A field without another owner goes back to its default, as the server does it."""
    assert rules.applied(SERVING, Apply("v2", None)).replicas == 1
    shared = SERVING._replace(replicas_by=GATE | OTHER)
    kept = rules.applied(shared, Apply("v2", None))
    assert (kept.replicas, kept.replicas_by) == (2, OTHER)


def test_a_deletion_takes_everything_with_it() -> None:
    """What is created under the name afterwards is another object."""
    gone = rules.deleted(SERVING)
    again = rules.created(gone, OTHER, "v3", 2)
    assert not gone.uid
    assert not gone.sets
    assert again.uid != SERVING.uid
    assert again.version > SERVING.version


def course(where: Scene, world: World | None = None) -> Iterator[World]:
    """Iterate the worlds of the usual course, to its end."""
    world = world or first_world(where)
    while True:
        yield world
        found = moves(world, where)
        if world.attempt is not None and alive(world) is None:
            return
        world = found[0].make().world


def later_versions(cluster: Cluster, by: int) -> Cluster:
    """Return the cluster with every version and generation that much later."""
    sets = tuple(
        one._replace(
            version=one.version + by,
            pods=tuple(pod._replace(version=pod.version + by) for pod in one.pods),
        )
        for one in cluster.sets
    )
    return cluster._replace(
        version=cluster.version + by,
        latest=cluster.latest + by,
        generation=cluster.generation + by,
        observed=cluster.observed + by,
        sets=sets,
    )


def test_each_move_of_a_course_makes_another_world() -> None:
    """What decides is told apart: no two worlds of a run are the same."""
    for name in ("good", "crashing", "never-ready"):
        where = scene(name)
        digests = [digest(world) for world in itertools.islice(course(where), 20)]
        assert len(set(digests)) == len(digests)


def test_a_step_is_a_function_of_what_is_in_the_form() -> None:
    """From worlds that share a form, the same move leads to worlds that share one."""
    where = scene("never-ready")
    first = first_world(where)
    other = first._replace(cluster=later_versions(first.cluster, 7))
    one, two = (next(itertools.islice(course(where, world), 11, None)) for world in (first, other))
    ways = zip(moves(one, where), moves(two, where), strict=True)
    for here, there in ways:
        assert here.name == there.name
        assert digest(here.make().world) == digest(there.make().world)


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
