"""A course of the model as people read it, and as a recording that `rollout-gate replay` shows.

The recording holds what the model cluster was, from the first apply that took effect on: what the
gate heard of it, and when, stands in the story alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.model import shown
from tests.model.attempts import first_world
from tests.model.cluster import Cluster
from tests.model.search import Course, replayed
from tests.model.shown import JSON
from tests.model.world import WANTED, Scene, World


def story(scene: Scene, course: Course) -> Iterator[str]:
    """Iterate a course, a line for each move; what deviates from the usual course is marked."""
    for choice, (name, world) in zip(course, replayed(scene, course), strict=True):
        mark = "!" if choice else " "
        yield f"{mark} {name:<44} {_place(world):<28} {_runs(world.cluster)}"


def _place(world: World) -> str:
    attempt = world.attempt
    if attempt is None:
        return "no gate runs"
    place = f"{attempt.now:g} s {attempt.course.leg}/{attempt.course.state}"
    return f"{place}: {attempt.outcome}" if attempt.result.ending is not None else place


def _runs(cluster: Cluster) -> str:
    if not cluster.uid:
        return "no Deployment"
    behind = "" if cluster.observed == cluster.generation else ", not observed"
    pods = [f"{len(one.pods)} of {one.template.image}" for one in cluster.sets if one.pods]
    return f"{cluster.template.image}{behind}: {', '.join(pods) or 'no pods'}"


def recording(scene: Scene, course: Course) -> list[str]:
    """Return the lines of a recording; none where no apply took effect.

    A later attempt's clock begins again, so its times are counted on from those before.
    """
    worlds = [first_world(scene), *(world for _, world in replayed(scene, course))]
    applied = _applied(worlds)
    if applied is None:
        return []
    before, after = worlds[applied - 1].cluster, worlds[applied].cluster
    lines = [_header(scene, course, before, after)]
    known, moment = after, _Moment(worlds[applied])
    for world in worlds[applied + 1 :]:
        at = moment.after(world)
        lines += [json.dumps({"t": at, **change}) for change in _changes(known, world.cluster)]
        known = world.cluster
    return lines


def _applied(worlds: list[World]) -> int | None:
    """Return which world is the first that wants the new version."""
    for number, world in enumerate(worlds):
        if world.cluster.template.image == WANTED:
            return number
    return None


class _Moment:
    """Seconds since the apply, over attempts whose clocks begin at 0."""

    def __init__(self, world: World) -> None:
        self._number = world.number
        self._now = self._began = _now(world)
        self._sum = 0.0

    def after(self, world: World) -> float:
        """Return the seconds at which a later world is."""
        if world.number != self._number:
            self._sum += self._now - self._began
            self._number, self._began = world.number, 0.0
        if world.attempt is not None:
            self._now = _now(world)
        return self._sum + self._now - self._began


def _now(world: World) -> float:
    return world.attempt.now if world.attempt is not None else 0.0


def _header(scene: Scene, course: Course, before: Cluster, after: Cluster) -> str:
    moves = " / ".join(name for name, _ in replayed(scene, course))
    policy = {
        "timeout": scene.policy.budgets.timeout_seconds,
        "bake": scene.policy.budgets.bake_seconds,
    }
    header = {
        "trace": 1,
        "scenario": f"model, {scene.name}: {moves}",
        "namespace": shown.NAMESPACE,
        **_subject(after),
        "before": list(_objects(before).values()),
        "applied": shown.workload_json(after),
        "policy": policy,
    }
    return json.dumps(header)


def _subject(cluster: Cluster) -> dict[str, Any]:
    """Name the workload as a recording does."""
    if not cluster.ordered:
        return {"deployment": shown.NAME}
    return {"workload": {"kind": shown.kind_of(cluster), "name": shown.NAME}}


def _objects(cluster: Cluster) -> dict[str, JSON]:
    """Return all objects by uid."""
    if not cluster.uid:
        return {}
    things = [shown.workload_json(cluster)]
    for one in cluster.sets:
        of_set = shown.controller_revision_json if cluster.ordered else shown.replica_set_json
        of_pod = shown.ordered_pod_json if cluster.ordered else shown.pod_json
        things.append(of_set(cluster.uid, one))
        things += [of_pod(cluster.uid, one.template, pod) for pod in one.pods]
    return {thing["metadata"]["uid"]: thing for thing in things}


def _changes(before: Cluster, after: Cluster) -> Iterator[dict[str, Any]]:
    """Iterate what watches say of the way from one cluster to another."""
    known, there = _objects(before), _objects(after)
    for uid, thing in known.items():
        if uid not in there:
            yield {"type": "DELETED", "object": thing}
    for uid, thing in there.items():
        if uid not in known:
            yield {"type": "ADDED", "object": thing}
        elif thing != known[uid]:
            yield {"type": "MODIFIED", "object": thing}
