"""The usual course: what comes next where nothing goes wrong.

The server does a write and answers, watches tell what they have, the controllers act, pods become
what the scene says, and time passes where all is at rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from gate.core.attempt.state import Attempt
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known, Unknown
from gate.core.model.objects import Ref, Watched
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import (
    Asking,
    Collect,
    FindTerminatingNamespaces,
    FindUsers,
    Read,
    Release,
    RemovePod,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import (
    Collected,
    ContactFailed,
    PodRemoval,
    ReadBack,
    Recorded,
    Released,
    Removal,
    TerminatingNamespacesFound,
    UsersFound,
    Woke,
)
from gate.core.rollout.observations import Kind, Observed, Vanished
from gate.core.rollout.snapshot import Snapshot
from gate.core.steps.step import wake_at
from tests.model import cluster as rules
from tests.model import configuration, shown, stateful
from tests.model.attempts import begun, live_fact
from tests.model.cluster import CRASHING, READY, STARTING, Cluster, Template
from tests.model.configuration import SETTINGS
from tests.model.serving import performed, pruned
from tests.model.stepping import Move, alive, changed, deciding, heard, running, took_off
from tests.model.world import MOST_ATTEMPTS, WANTED, Books, Flight, Scene, Stepped, World

BECAME = {READY: "gets ready", CRASHING: "crashes"}


def usual(world: World, scene: Scene) -> Iterator[Move]:
    """Iterate what may happen by itself; the first is the usual course, none is that all rests.

    Where something else may happen yet, time passes early.
    """
    early = False
    for move in _by_itself(world, scene):
        early = True
        yield move
    yield from _woken(world, early=early)


def _by_itself(world: World, scene: Scene) -> Iterator[Move]:
    if world.is_away:
        yield from _back(world)
        yield from _answers(world)
        return
    slow = [one for one in world.flights if _comes_late(one, scene)]
    yield from _served(world, [one for one in world.flights if one not in slow])
    yield from _answers(world)
    yield from deliveries(world)
    if world.again == "soon":
        yield from _again(world, scene)
    yield from controlled(world)
    yield from _grown_up(world, scene)
    yield from _served(world, slow)
    if world.again == "late":
        yield from _again(world, scene)


# -- the server that is away for a while -----------------------------------------------------------


def away(world: World) -> Stepped:
    """Let the API server be away for as long as the progress deadline; a request fails of it."""
    now = running(world).now
    gone = world._replace(contact=False, back_at=now + shown.DEADLINE_SECONDS)
    return heard(gone, ContactFailed(now, "reset"))


def _back(world: World) -> Iterator[Move]:
    """Let it be back in time; the first that is done then is to call late what is not complete.

    A controller that comes back finds its deadline passed, and looks at the pods a moment later.
    """
    attempt = alive(world)
    if attempt is None or attempt.now >= world.back_at:
        late = rules.exceeded(world.cluster) if world.controlling else world.cluster
        back = world._replace(contact=True, back_at=math.inf, cluster=late)
        yield Move("the API server is back", lambda: Stepped(pruned(back)))


# -- the server ------------------------------------------------------------------------------------


def _comes_late(flight: Flight, scene: Scene) -> bool:
    """Tell whether the answer to a write comes once all else is at rest."""
    is_out = flight.write.ref != SETTINGS and not flight.back
    return scene.configured_last and is_out and flight.answer is not None


def _served(world: World, flights: Iterable[Flight]) -> Iterator[Move]:
    """Let the server do a write, then let its answer arrive."""
    if not world.contact:
        return
    for flight in flights:
        if flight.answer is not None:
            yield Move("the write is answered", partial(_answered, world, flight))
        elif not flight.late:
            yield Move("the server does the write", partial(performed, world, flight))


def _answered(world: World, flight: Flight) -> Stepped:
    assert flight.answer is not None
    left = tuple(one for one in world.flights if one is not flight)
    answer = replace(flight.answer, at=running(world).now)
    books = found_out(world.books, flight.write.ref)
    return heard(world._replace(flights=left, books=books), answer)


def _answers(world: World) -> Iterator[Move]:
    attempt = alive(world)
    if attempt is None:
        return
    for effect_id, effect in attempt.requests.outstanding.items():
        if effect_id in world.deaf or isinstance(effect, Write):
            continue
        name = type(effect).__name__
        if isinstance(effect, RemovePod) and effect_id not in world.evicted:
            if world.contact:
                yield Move("the server evicts the pod", partial(evicted, world, effect))
            continue
        if world.contact or isinstance(effect, Collect):
            yield Move(f"{name} is answered", partial(_answer, world, effect))
        elif isinstance(effect, Read):
            yield Move("Read fails", partial(unread, world, effect))


def _answer(world: World, effect: Asking) -> Stepped:
    attempt, books = running(world), world.books
    now, effect_id = attempt.now, effect.effect_id
    match effect:
        case SaveRecord(record=record):
            books = books._replace(record_leg=attempt.course.leg.value)
            world = world._replace(books=books, lease=world.lease.saved(record))
            return heard(world, Recorded(now, effect_id))
        case Read(whole_rollout=True):
            failed = attempt.course.leg is Leg.FORWARD and rules.is_crashing(world.cluster, WANTED)
            read, blocking = rules.serves(world.cluster), blocking_uid(world.cluster)
            books = found_out(books, effect.ref)
            books = books._replace(read=read, failed=failed, blocking=blocking)
            return heard(world._replace(books=books), _read(world.cluster, effect, now))
        case Read(ref=ref) if ref == SETTINGS and world.settings is not None:
            world = world._replace(books=found_out(books, ref)._replace(unseen=False))
            return heard(world, ReadBack(now, effect_id, Known(configuration.live(world.settings))))
        case Read(ref=ref):
            world = world._replace(books=found_out(books, ref))
            return heard(world, _read(world.cluster, effect, now))
        case RemovePod():
            return removed(world, effect, Removal.ACCEPTED)
        case Collect():
            return heard(world, Collected(now, effect_id, ()))
        case FindUsers():
            return heard(world, UsersFound(now, effect_id, FrozenMap()))
        case FindTerminatingNamespaces():
            return heard(world, TerminatingNamespacesFound(now, effect_id, frozenset()))
        case Release(closed=closed):
            world = world._replace(lease=world.lease.released(closed))
            return heard(world, Released(now, effect_id))
        case _:
            raise TypeError(f"the model has no answer to {type(effect).__name__}")


def evicted(world: World, effect: RemovePod) -> Stepped:
    """Let the server begin to remove a pod, by its uid; who is gone already is no fault."""
    cluster = world.cluster
    for template, pod in stateful.pods_of(cluster):
        is_meant = shown.pod_uid(cluster.uid, template, pod.serial) == effect.uid
        if is_meant and not pod.going:
            cluster = stateful.going(cluster, template, pod.serial)
    done = (*world.evicted, effect.effect_id)
    return Stepped(world._replace(cluster=cluster, evicted=done))


def removed(world: World, effect: RemovePod, removal: Removal) -> Stepped:
    """Answer a removal."""
    left = tuple(one for one in world.evicted if one != effect.effect_id)
    answer = PodRemoval(running(world).now, effect.effect_id, removal, "said the server")
    return heard(world._replace(evicted=left), answer)


def blocking_uid(cluster: Cluster) -> str:
    """Return the uid of the pod at which the controller stops, "" for none."""
    found = stateful.find_blocking(cluster) if cluster.ordered else None
    return "" if found is None else shown.pod_uid(cluster.uid, *found)


def found_out(books: Books, ref: Ref) -> Books:
    """Note that an object was read, or that a write of it was answered."""
    return books._replace(lost=tuple(name for name in books.lost if name != str(ref)))


def _read(cluster: Cluster, effect: Read, now: float) -> ReadBack:
    effect_id = effect.effect_id
    fact = live_fact(cluster)
    if not effect.whole_rollout:
        return ReadBack(now, effect_id, fact)
    return ReadBack(now, effect_id, fact, shown.revisions(cluster), shown.pods(cluster))


def unread(world: World, effect: Read) -> Stepped:
    """Answer a read with that nobody could tell."""
    return heard(world, ReadBack(running(world).now, effect.effect_id, Unknown("503")))


# -- the watches -----------------------------------------------------------------------------------

News = list[Observed | Vanished]


def deliveries(world: World) -> Iterator[Move]:
    """Let a watch tell what differs from what is known: of the Deployment, or of its parts."""
    attempt = deciding(world)
    if attempt is None or not (world.watching and world.contact):
        return
    about_it, about_parts = _news(world.cluster, attempt)
    if about_it:
        yield Move("the Deployment is watched", partial(heard, world, *about_it))
    if about_parts:
        yield Move("ReplicaSets and pods are watched", partial(heard, world, *about_parts))


def _news(cluster: Cluster, attempt: Attempt) -> tuple[News, News]:
    known, now = _known_to(attempt), attempt.now
    about_it: News = []
    live = shown.workload(cluster) if cluster.uid else None
    if known.live is not None and (live is None or live.uid != known.live.uid):
        about_it.append(Vanished(now, shown.kind_of(cluster), known.live.uid))
    if live is not None and live != known.live:
        about_it.append(Observed(now, live))
    kind = shown.revision_kind_of(cluster)
    parts = _changes(now, kind, known.revisions, shown.revisions(cluster))
    tracked = {uid: track.pod for uid, track in known.pods.items()}
    return about_it, parts + _changes(now, Kind.POD, tracked, shown.pods(cluster))


def _known_to(attempt: Attempt) -> Snapshot:
    """Return what an attempt knows of the Deployment."""
    [ref] = (target.ref for target in attempt.plan.targets)
    rollout = attempt.workloads.rollouts.get(ref)
    return rollout.snapshot if rollout is not None else attempt.workloads.snapshots[ref]


def _changes(
    now: float, kind: Kind, known: Mapping[str, Watched], there: Iterable[Watched]
) -> News:
    found = {thing.uid: thing for thing in there}
    gone: News = [Vanished(now, kind, uid) for uid in known if uid not in found]
    return gone + [Observed(now, one) for uid, one in found.items() if known.get(uid) != one]


# -- the cluster, the pipeline and the clock -------------------------------------------------------


def controlled(world: World) -> Iterator[Move]:
    """Let the Deployment's controller act, where it runs and has something to do."""
    if not world.controlling:
        return
    after = stateful.controlled(world.cluster, partial(_fresh, world))
    if after != world.cluster:
        yield Move("the controller acts", partial(changed, world, after))


def _fresh(world: World, template: Template, taken: Iterable[int]) -> int:
    """Return the least serial number of a pod that neither the cluster nor the gate knows."""
    known: set[str] = set()
    if world.attempt is not None:
        rollouts = (
            *world.attempt.workloads.rollouts.values(),
            *world.attempt.workloads.followed_before.values(),
        )
        known = {uid for rollout in rollouts for uid in rollout.snapshot.pods}
        known |= {uid for one in world.attempt.workloads.snapshots.values() for uid in one.pods}
        known |= {*world.attempt.workloads.replacements}
    if world.lease.record is not None:
        followed = world.lease.record.followed
        known |= {pod.uid for one in followed for pod in one.removed}
    serial, here = 0, set(taken)
    while serial in here or shown.pod_uid(world.cluster.uid, template, serial) in known:
        serial += 1
    return serial


def _grown_up(world: World, scene: Scene) -> Iterator[Move]:
    without = stateful.gone(world.cluster)
    if without is not world.cluster:
        yield Move("a pod is gone", partial(changed, world, without))
    for template, index in first_at(world.cluster, STARTING):
        phase = scene.fate(template.image)
        if phase != STARTING:
            after = rules.pod_became(world.cluster, template, index, phase)
            yield Move(f"a pod of {template.image} {BECAME[phase]}", partial(changed, world, after))


def first_at(cluster: Cluster, phase: int) -> Iterator[tuple[Template, int]]:
    """Iterate the first pod of each ReplicaSet at a phase: those beside it there are its like."""
    for one in cluster.sets:
        for index, pod in enumerate(one.pods):
            if pod.phase == phase:
                yield one.template, index
                break


def _again(world: World, scene: Scene) -> Iterator[Move]:
    if world.contact and alive(world) is None and world.number < MOST_ATTEMPTS:
        yield Move("an attempt begins", partial(_begun, world, scene))


def _begun(world: World, scene: Scene) -> Stepped:
    return took_off(begun(world, scene))


def _woken(world: World, *, early: bool) -> Iterator[Move]:
    attempt = alive(world)
    if attempt is not None:
        due_at = min(wake_at(attempt), world.back_at)
        if not math.isinf(due_at):
            yield Move("time passes", partial(woke, world, due_at, early=early))


def woke(world: World, at: float, *, early: bool) -> Stepped:
    """Let time pass; a budget that the server or the controllers spent is no fault of the gate."""
    attempt = running(world)
    slow = early and (attempt.course.leg is Leg.BACK or attempt.asks)
    books = world.books._replace(trouble=world.books.trouble or (slow and not world.is_away))
    if world.is_away and attempt.workloads.rollouts:
        blind_seconds = books.blind_seconds + min(at, world.back_at) - attempt.now
        books = books._replace(blind_seconds=blind_seconds)
    return heard(world._replace(books=books), Woke(at))
