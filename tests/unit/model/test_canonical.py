"""Worlds that differ in nothing that decides share a canonical form; all others do not."""

from __future__ import annotations

from collections.abc import Iterator

from tests.model.attempts import first_world
from tests.model.canonical import digest
from tests.model.cluster import Cluster
from tests.model.moves import moves
from tests.model.scenes import scene
from tests.model.world import Scene, World


def course(where: Scene, world: World, count: int) -> Iterator[World]:
    """Iterate the worlds of the usual course."""
    for _ in range(count):
        world = moves(world, where)[0].make().world
        yield world


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
        digests = [digest(world) for world in course(where, first_world(where), 20)]
        assert len(set(digests)) == len(digests)


def test_a_step_is_a_function_of_what_is_in_the_form() -> None:
    """From worlds that share a form, the same move leads to worlds that share one."""
    where = scene("never-ready")
    first = first_world(where)
    other = first._replace(cluster=later_versions(first.cluster, 7))
    one, two = (list(course(where, world, 11))[-1] for world in (first, other))
    ways = zip(moves(one, where), moves(two, where), strict=True)
    for here, there in ways:
        assert here.name == there.name
        assert digest(here.make().world) == digest(there.make().world)
