"""The model API server: does a write where its preconditions hold, and says what came of it."""

from __future__ import annotations

import functools
from typing import Any

from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import AttemptEvent, WriteConflicted, WriteRejected, Written
from tests.model import cluster as rules
from tests.model import configuration, shown
from tests.model.cluster import PATCHED, Apply, Cluster
from tests.model.configuration import SETTINGS
from tests.model.world import Flight, Stepped, World

_PATHS = {"image": '.spec.template.spec.containers[name="web"].image', "replicas": ".spec.replicas"}
"""The fields in conflict, in the API server's words."""


def performed(world: World, flight: Flight) -> Stepped:
    """Let the server do a write or refuse it; its answer is on its way unless it came late."""
    if flight.write.ref == SETTINGS:
        return _configured(world, flight)
    after, answer = done(world.cluster, flight.write)
    left = tuple(one for one in world.flights if one is not flight)
    if not flight.late:
        left = (*left, flight._replace(answer=answer))
    books, effective = world.books, rules.differs(world.cluster, after)
    if effective and flight.number == world.number:
        books = books._replace(
            out=books.out + (not flight.back),
            back=books.back + flight.back,
            late=books.late or flight.late,
        )
    if effective and (flight.number != world.number or over(world)):
        books = books._replace(meddled=True, trouble=True)
    past = world.cluster if effective and not flight.late else world.past
    did = flight if effective else None
    world = world._replace(cluster=after, flights=left, past=past, books=books)
    return Stepped(pruned(world), done=did)


def _configured(world: World, flight: Flight) -> Stepped:
    """Let the server do a write of the ConfigMap or refuse it."""
    assert world.settings is not None
    after, answer = configuration.done(world.settings, flight.write)
    left = tuple(one for one in world.flights if one is not flight)
    if not flight.late:
        left = (*left, flight._replace(answer=answer))
    effective, books = after != world.settings, world.books
    if effective and flight.number == world.number:
        books = books._replace(configured=True, late=books.late or flight.late)
    if effective and (flight.number != world.number or over(world)):
        books = books._replace(trouble=True, unseen=books.unseen or over(world))
    did = flight if effective else None
    return Stepped(pruned(world._replace(settings=after, flights=left, books=books)), done=did)


def over(world: World) -> bool:
    """Tell whether the present attempt has come to its verdict, or is gone."""
    return world.attempt is None or world.attempt.result.verdict_at is not None


def pruned(world: World) -> World:
    """Forget late writes that cannot be done any more: the version that they name is past."""
    versions = {shown.ref_of(world.cluster): world.cluster.version}
    if world.settings is not None:
        versions[SETTINGS] = world.settings.version
    flights = tuple(
        one
        for one in world.flights
        if not one.late or one.write.resource_version in (None, str(versions[one.write.ref]))
    )
    return world if flights == world.flights else world._replace(flights=flights)


def done(cluster: Cluster, write: Write) -> tuple[Cluster, AttemptEvent]:
    """Return the cluster after a write, and the answer to it."""
    effect_id = write.effect_id
    if not _holds(cluster, write):
        return cluster, WriteConflicted(0.0, effect_id)
    match write.verb:
        case Verb.DELETE:
            return rules.deleted(cluster), Written(0.0, effect_id, None)
        case Verb.MERGE:
            after = _patched(cluster, _thawed(write.body)["spec"])
        case _:
            wanted = wanted_by(write)
            lost = rules.conflicts(cluster, wanted)
            if lost:
                return cluster, _conflict(effect_id, lost)
            after = rules.applied(cluster, wanted)
    is_created = not cluster.uid
    return after, Written(0.0, effect_id, shown.live_of(after), is_created)


def _holds(cluster: Cluster, write: Write) -> bool:
    """Tell whether uid and resourceVersion are those of what is stored, and a creation makes it."""
    if write.uid is None and write.resource_version is None and cluster.uid:
        return False
    if write.uid is not None and write.uid != shown.uid_of(cluster.uid):
        return False
    return write.resource_version is None or write.resource_version == str(cluster.version)


def _conflict(effect_id: int, lost: tuple[str, ...]) -> WriteRejected:
    paths = tuple(_PATHS[name] for name in lost)
    return WriteRejected(0.0, effect_id, Reason.CONFLICT, CleanText("conflicts"), paths)


def _patched(cluster: Cluster, spec: dict[str, Any]) -> Cluster:
    replicas = spec.get("replicas", cluster.replicas)
    by = PATCHED if "replicas" in spec else cluster.replicas_by
    paused, paused_by = cluster.paused, cluster.paused_by
    if "paused" in spec:
        paused, paused_by = bool(spec["paused"]), PATCHED if spec["paused"] else 0
    changed = cluster._replace(
        replicas=replicas, replicas_by=by, paused=paused, paused_by=paused_by
    )
    return rules.edited(cluster, changed)


def wanted_by(write: Write) -> Apply:
    """Return what an apply asks for."""
    spec = _thawed(write.body)["spec"]
    image = spec["template"]["spec"]["containers"][0]["image"]
    return Apply(image.rpartition(":")[2], spec.get("replicas"))


@functools.lru_cache(maxsize=64)
def _thawed(body: Body) -> dict[str, Any]:
    return body.thaw()
