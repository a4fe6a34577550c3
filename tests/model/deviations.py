"""What may happen besides the usual course: trouble, signals, a death, and who else writes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from gate.core.attempt.contact import REFUSED_SECONDS, REFUSED_TIMES
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Read, RemovePod
from gate.core.protocol.events import (
    AccessRefused,
    AttemptEvent,
    ContactFailed,
    ContactLost,
    ContactRestored,
    Interrupted,
    LeaseLost,
    Removal,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.observations import Kind, Listed, Observed
from gate.core.steps.step import wake_at
from tests.model import cluster as rules
from tests.model import configuration, shown
from tests.model.cluster import CRASHING, OTHER, READY, STARTING, Cluster, Template
from tests.model.course import (
    BECAME,
    away,
    controlled,
    deliveries,
    first_at,
    found_out,
    removed,
    unread,
    woke,
)
from tests.model.serving import performed, pruned
from tests.model.stepping import Move, alive, changed, deciding, heard, running
from tests.model.world import (
    BEFORE,
    MOST_ATTEMPTS,
    REPLICAS,
    THEIRS,
    WANTED,
    Books,
    Flight,
    Scene,
    Stepped,
    World,
)

SIGTERM = 15
SHORTEST_SECONDS = 0.5
"""Time passes in steps of this: every limit of the core is a multiple of it."""


def deviations(world: World, scene: Scene) -> Iterator[Move]:
    """Iterate what may happen besides; the same thing later is left for later."""
    if world.is_away:
        yield from _asked_to_end(world) if alive(world) is not None else ()
        return
    yield from _writes_deviate(world)
    if alive(world) is not None:
        yield from _server_deviates(world)
        yield from _asked_to_end(world)
    if not world.contact:
        yield Move("contact is restored", partial(_restored, world))
    if deciding(world) is not None:
        yield from _half_woken(world)
        yield from _told_late(world)
    if deciding(world) is not None or world.again:
        yield from _meddling(world)
        yield from _pods_deviate(world, scene)
        yield from _controllers_deviate(world)


# -- the server ------------------------------------------------------------------------------------


def _writes_deviate(world: World) -> Iterator[Move]:
    for flight in world.flights:
        if flight.late:
            yield Move("a late write arrives", partial(performed, world, flight))
            continue
        yield Move("the answer to the write is lost", partial(_lost, world, flight))
        if flight.answer is None and world.contact:
            yield Move("the write is refused", partial(_refused, world, flight))


def _lost(world: World, flight: Flight) -> Stepped:
    """Lose an answer; what the server has not done yet it may still do."""
    flights = tuple(one for one in world.flights if one is not flight)
    if flight.answer is None:
        flights = (*flights, flight._replace(late=True))
    lost = WriteUncertain(running(world).now, flight.write.effect_id, "reset")
    return heard(world._replace(flights=flights, books=_with_lost(world.books, flight)), lost)


def _with_lost(books: Books, flight: Flight) -> Books:
    """Note that nobody knows what became of a write."""
    return books._replace(lost=tuple(sorted({*books.lost, str(flight.write.ref)})))


def _refused(world: World, flight: Flight) -> Stepped:
    flights = tuple(one for one in world.flights if one is not flight)
    now, effect_id = running(world).now, flight.write.effect_id
    refused = WriteRejected(now, effect_id, Reason.FORBIDDEN, CleanText("forbidden"))
    # After a lost answer it may be done all the same, which a read tells.
    is_final = not flight.back and not running(world).writes.uncertain
    books = found_out(world.books, flight.write.ref)
    books = books._replace(refused=books.refused or is_final, trouble=True)
    return heard(world._replace(flights=flights, books=books), refused)


def _server_deviates(world: World) -> Iterator[Move]:
    attempt = running(world)
    asked = [
        one for one in attempt.requests.outstanding.values() if one.effect_id not in world.deaf
    ]
    for effect in asked:
        name = f"{type(effect).__name__} is never answered"
        yield Move(name, partial(_deaf, world, effect.effect_id))
        if isinstance(effect, Read) and world.contact:
            yield Move("Read fails", partial(unread, world, effect))
        if isinstance(effect, RemovePod):
            yield from _removals_deviate(world, effect)
    news = any(deliveries(world))
    if world.contact and (asked or news):
        now = attempt.now
        lost = (ContactLost(now, "no answer"),)
        yield Move("contact is lost", partial(_out_of_touch, world, lost))
        yield Move("access is withdrawn", partial(_out_of_touch, world, _refusals(now)))
        yield Move("the API server is away for a while", partial(away, world))
        failed = ContactFailed(now, "reset")
        yield Move("a request fails", partial(heard, world, failed))
    if news:
        silent = Stepped(world._replace(watching=False))
        yield Move("the watches fall silent", lambda: silent)


def _removals_deviate(world: World, effect: RemovePod) -> Iterator[Move]:
    """Let a budget forbid an eviction, the server refuse it, or its answer be lost."""
    lost = partial(removed, _troubled(world), effect, Removal.UNANSWERED)
    yield Move("the answer to the eviction is lost", lost)
    if world.contact and effect.effect_id not in world.evicted:
        guarded = partial(removed, _troubled(world), effect, Removal.GUARDED)
        yield Move("a disruption budget forbids the eviction", guarded)
        refused = partial(removed, _troubled(world), effect, Removal.REFUSED)
        yield Move("the eviction is refused", refused)


def _deaf(world: World, effect_id: int) -> Stepped:
    """Let an effect be unanswered for good; of a write nobody knows whether it will be done."""

    def is_unanswered(one: Flight) -> bool:
        return one.number == world.number and one.write.effect_id == effect_id

    flights = tuple(
        one._replace(late=True) if is_unanswered(one) else one
        for one in world.flights
        if not is_unanswered(one) or one.answer is None
    )
    deaf = tuple(sorted((*world.deaf, effect_id)))
    books = world.books._replace(trouble=True)
    for one in filter(is_unanswered, world.flights):
        books = _with_lost(books, one)
    return Stepped(pruned(world._replace(deaf=deaf, flights=flights, books=books)))


def _out_of_touch(world: World, events: tuple[AttemptEvent, ...]) -> Stepped:
    return heard(_troubled(world)._replace(contact=False), *events)


def _refusals(now: float) -> tuple[AttemptEvent, ...]:
    """Return what is heard of access that has been refused for long enough."""
    since = (now - REFUSED_SECONDS, *[now] * (REFUSED_TIMES - 1))
    return tuple(AccessRefused(at, "shop/Pod", "forbidden", Reason.FORBIDDEN) for at in since)


def _restored(world: World) -> Stepped:
    world, attempt = world._replace(contact=True), alive(world)
    return Stepped(world) if attempt is None else heard(world, ContactRestored(attempt.now))


def _told_late(world: World) -> Iterator[Move]:
    """Let a server that lags behind tell what was before the latest write of the attempt."""
    past = world.past
    if past is None or not past.uid or not (world.watching and world.contact):
        return
    now, version = running(world).now, str(past.latest)
    late, ref = Observed(now, shown.workload(past)), shown.ref_of(past)
    sets = Listed(now, shown.revision_kind_of(past), ref, shown.revisions(past), version)
    pods = Listed(now, Kind.POD, ref, shown.pods(past), version)
    yield Move("the watches lag behind", partial(heard, world, late, sets, pods))


# -- the process -----------------------------------------------------------------------------------


def _asked_to_end(world: World) -> Iterator[Move]:
    attempt = running(world)
    if attempt.interference.signal_number is None:
        signal = Interrupted(attempt.now, SIGTERM)
        yield Move("a signal comes", partial(heard, world, signal))
    if attempt.interference.lock_lost is None and deciding(world) is not None:
        yield Move("the lock is taken", partial(_lock_taken, world))
    if world.number < MOST_ATTEMPTS:
        for again in ("soon", "late"):
            name = f"the gate is killed, and is run again {again}"
            yield Move(name, partial(_killed, world, again))


def _lock_taken(world: World) -> Stepped:
    books = world.books._replace(taken=True, others=True)
    return heard(world._replace(books=books), LeaseLost(running(world).now, "another"))


def _killed(world: World, again: str) -> Stepped:
    """End the gate at once; what it had sent may be done yet."""
    late = tuple(one._replace(late=True) for one in world.flights if one.answer is None)
    left = world._replace(attempt=None, flights=late, deaf=(), evicted=(), past=None, again=again)
    return Stepped(pruned(left))


def _half_woken(world: World) -> Iterator[Move]:
    """Let some time pass before what is due."""
    now, due_at = running(world).now, wake_at(running(world))
    half = math.floor((due_at - now) / 2 / SHORTEST_SECONDS) if math.isfinite(due_at) else 0
    if half > 0:
        at = now + half * SHORTEST_SECONDS
        yield Move("some time passes", partial(woke, world, at, early=True))


# -- somebody else ---------------------------------------------------------------------------------


def _meddling(world: World) -> Iterator[Move]:
    """Let somebody else write: another image, an annotation, replicas, a pause, a deletion."""
    cluster = world.cluster
    if not cluster.uid:
        for image in (WANTED, THEIRS):
            made = rules.created(cluster, OTHER, image, REPLICAS)
            yield Move(f"somebody creates it with {image}", partial(_meddled, world, made))
        return
    for name, edit in _edits(cluster):
        edited = rules.edited(cluster, edit)
        yield Move(f"somebody {name}", partial(_meddled, world, edited))
    gone = rules.deleted(cluster)
    yield Move("somebody deletes it", partial(_meddled, world, gone))
    yield from _configuring(world)


def _configuring(world: World) -> Iterator[Move]:
    """Let somebody else set or remove the key of the ConfigMap that both use."""
    settings = world.settings
    if settings is None:
        return
    for value, what in ((configuration.THEIRS, "sets a key"), ("", "removes a key")):
        if settings.level.value != value:
            after = configuration.meddled(settings, value)
            books = world.books._replace(others=True)
            stepped = Stepped(pruned(world._replace(settings=after, books=books)))
            yield Move(f"somebody {what} of the ConfigMap", partial(_same, stepped))


def _same(stepped: Stepped) -> Stepped:
    return stepped


def _edits(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    template = cluster.template
    for image in (BEFORE, WANTED, THEIRS):
        if image != template.image:
            other = template._replace(image=image)
            yield f"sets the image to {image}", cluster._replace(template=other, image_by=OTHER)
    if not template.marked:
        yield "restarts the pods", cluster._replace(template=template._replace(marked=True))
    count = 1 if cluster.replicas != 1 else REPLICAS
    yield f"scales to {count}", cluster._replace(replicas=count, replicas_by=OTHER)
    if cluster.ordered:
        return
    name = "resumes it" if cluster.paused else "pauses it"
    paused_by = 0 if cluster.paused else OTHER
    yield name, cluster._replace(paused=not cluster.paused, paused_by=paused_by)


def _meddled(world: World, cluster: Cluster) -> Stepped:
    before, books = world.cluster, world.books
    replaced = (before.uid, before.template) != (cluster.uid, cluster.template)
    books = books._replace(others=True, meddled=books.meddled or replaced)
    return changed(world._replace(books=books), cluster)


# -- pods and controllers --------------------------------------------------------------------------


def _pods_deviate(world: World, scene: Scene) -> Iterator[Move]:
    """Let a pod become another thing than the scene says, or crash after it was ready."""
    for template, index in first_at(world.cluster, STARTING):
        for phase in (READY, CRASHING):
            if phase != scene.fate(template.image):
                yield _deviating(world, template, index, phase)
    for template, index in first_at(world.cluster, READY):
        yield _deviating(world, template, index, CRASHING)


def _deviating(world: World, template: Template, index: int, phase: int) -> Move:
    after = rules.pod_became(world.cluster, template, index, phase)
    if template.image != WANTED and phase == CRASHING:
        world = _troubled(world)
    name = f"a pod of {template.image} {BECAME[phase]}, of all things"
    return Move(name, partial(changed, world, after))


def _controllers_deviate(world: World) -> Iterator[Move]:
    if not world.controlling:
        back = Stepped(world._replace(controlling=True))
        yield Move("the controller is back", lambda: back)
        return
    if any(controlled(world)):
        stopped = Stepped(_troubled(world)._replace(controlling=False))
        yield Move("the controller stops", lambda: stopped)
    late = rules.exceeded(world.cluster)
    if late is not world.cluster:
        yield Move("the deadline is called exceeded", partial(changed, world, late))


def _troubled(world: World) -> World:
    """Note that there was trouble that no gate can make up for."""
    return world._replace(books=world.books._replace(trouble=True))
