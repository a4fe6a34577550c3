"""The state of the model: cluster, attempt, what is under way between them, and what has happened.

One value for each; a search visits them. `Books` holds what an invariant has to remember and
neither cluster nor attempt does.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.journal_record import Record
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target, in_phases
from gate.core.protocol.effects import Effect, Write
from gate.core.protocol.events import AttemptEvent
from gate.core.recovery.resumption import resume
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.causes import Cause
from gate.core.rollout.observations import Kind, Listed
from gate.core.rollout.policy import Policy
from gate.core.rollout.snapshot import Snapshot
from gate.core.ssa.applied_fields import applied_body, applied_digest
from gate.core.steps.step import begin
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import Closed, History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.selection import select
from tests.model import cluster as rules
from tests.model import configuration, shown, stateful
from tests.model.cluster import READY, STARTING, Apply, Cluster, Template
from tests.model.configuration import SETTINGS, Settings
from tests.model.stateful import controlled

KEPT: Final = "v0"
"""A bad version that an attempt before the first has left standing."""
BEFORE: Final = "v1"
WANTED: Final = "v2"
THEIRS: Final = "v3"
"""What serves before the first attempt, what each attempt applies, what somebody else does."""
REPLICAS: Final = 2
MOST_ATTEMPTS: Final = 3
"""A rollout, what finishes it where its gate died, and the rollout again."""
NO_HISTORY: Final = History()
RESUMABLE: Final = frozenset({Outcome.INTERRUPTED, Outcome.LOST_CONTACT, Outcome.ROLLBACK_FAILED})
"""Ends after which the pipeline is run again, as after a death."""


class Fate(NamedTuple):
    """What the pods of an image become by themselves, from starting on."""

    image: str
    phase: int


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a search begins: whether a version serves, what becomes of pods, by which policy.

    `configured` is whether the manifest has a ConfigMap, too; `configured_last` that it is written
    after the Deployment, whose answer comes once its pods are what they become; `configured_once`
    that it is written once the Deployment is complete, which it needs. `kept` is whether
    an attempt has left a version standing that crashes, with its configuration, after one that was
    verified. `ordered` is whether the workload is a StatefulSet.
    """

    name: str
    policy: Policy
    served: bool = True
    fates: tuple[Fate, ...] = ()
    configured: bool = False
    configured_last: bool = False
    configured_once: bool = False
    kept: bool = False
    ordered: bool = False

    def fate(self, image: str) -> int:
        """Return what the pods of an image become: ready, unless the scene says otherwise."""
        return next((fate.phase for fate in self.fates if fate.image == image), READY)


class Flight(NamedTuple):
    """A write on its way: `answer` is None until the server has done or refused it.

    `back` is whether its leg was the way back, `number` that of its attempt. `late` is one that
    the gate has stopped waiting for, and that the server may do yet.
    """

    write: Write
    back: bool
    number: int
    answer: AttemptEvent | None = None
    late: bool = False


class Books(NamedTuple):
    """What happened that neither the cluster nor the attempt tells.

    Of the present attempt: `found` is the template that was there before it, `served` the image
    that served then. `journal` is the leg whose record stands. `out` and `back` count the writes
    that had an effect, `late` is whether one of them had it after the gate had stopped waiting.
    `read` is what was complete when all was read last, "" for nothing, `blind_seconds` how long the
    server was away for a while. `configured` is whether the ConfigMap was written, `settings` the
    values of its keys before, `returned` those that go back with the Deployment. `meddled` is
    whether somebody else changed the template or the Deployment itself, `taken` whether the lock
    was taken. `refused` is whether a write of the way out was, `failed` whether the latest read
    shows pods of it that crash, `lost` the objects whose last write has no answer, and that were
    not read since. `unseen` is whether the ConfigMap was written after the verdict by a write that
    nobody waits for, and not read since. `blocking` is the uid of the pod at which the controller
    stopped when all was read last, "" for none.

    Of the whole run: `others` is whether anybody else wrote at all, `trouble` whether the server,
    the controllers or the baseline gave some that no gate can make up for.
    """

    found: Template = Template("")
    served: str = ""
    journal: str = ""
    out: int = 0
    back: int = 0
    read: str = ""
    blind_seconds: float = 0.0
    late: bool = False
    configured: bool = False
    settings: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    meddled: bool = False
    taken: bool = False
    refused: bool = False
    failed: bool = False
    lost: tuple[str, ...] = ()
    unseen: bool = False
    blocking: str = ""
    others: bool = False
    trouble: bool = False


class Lease(NamedTuple):
    """What the lock's Lease keeps: the record of an attempt that is left open, and the history.

    Its holder and its expiry are no part of the model: who takes over has waited for them.
    """

    record: Record | None = None
    history: History = History()

    def saved(self, record: Record) -> Lease:
        """Return the Lease with the record of an attempt's leg."""
        return self._replace(record=record)

    def released(self, closed: Closed) -> Lease:
        """Return the Lease after an orderly end."""
        record, history = self.record if closed.left_open else None, self.history
        for closing in closed.deployments:
            history = history.after(closing, "", "", "")
        return Lease(record, history)


class World(NamedTuple):
    """Everything; `attempt` None is that no gate runs, `number` how many have begun.

    `back_at` is when an API server that is away for a while is back, infinite while it is not
    away: until then nothing is answered, and nobody writes.

    `deaf` are effects whose answers never come, `evicted` evictions that are done and that nobody
    was told of yet. `again` is when the pipeline is run again: "" not at all, "soon" before the
    cluster goes on, "late" after it has come to rest. `past` is the cluster before the attempt's
    latest write: what a server that lags behind still shows. `settings` is the ConfigMap beside the
    workload, where the scene has one.
    """

    cluster: Cluster
    attempt: Attempt | None = None
    number: int = 0
    flights: tuple[Flight, ...] = ()
    deaf: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()
    contact: bool = True
    controlling: bool = True
    watching: bool = True
    back_at: float = math.inf
    again: str = "soon"
    past: Cluster | None = None
    lease: Lease = Lease()
    books: Books = Books()
    settings: Settings | None = None

    @property
    def is_away(self) -> bool:
        """Whether the API server is away for a while."""
        return self.back_at < math.inf


class Stepped(NamedTuple):
    """A world after a move: what the attempt asked for in it, and the write that the server did."""

    world: World
    asked: tuple[Effect, ...] = ()
    done: Flight | None = None


def first_world(scene: Scene) -> World:
    """Return the world before the first attempt: what serves is complete and observed."""
    empty = Cluster(latest=100, ordered=scene.ordered)
    if not scene.served:
        return World(empty)
    created = rules.created(empty, rules.GATE, BEFORE, REPLICAS)
    cluster = _at_rest(created, scene)
    if not scene.kept:
        return World(cluster, settings=configuration.served(BEFORE) if scene.configured else None)
    verified = _judged(cluster, BEFORE)
    cluster = _at_rest(rules.applied(cluster, Apply(KEPT, REPLICAS)), scene)
    why = Cause(Reason.CRASH_LOOP, CleanText("it crashes"))
    failed = replace(_judged(cluster, KEPT), why=why)
    bodies = FrozenMap((applied_digest(one), body) for one, body in _bodies(BEFORE))
    history = History((verified, failed), bodies)
    return World(cluster, lease=Lease(history=history), settings=configuration.served(KEPT))


def _at_rest(cluster: Cluster, scene: Scene) -> Cluster:
    """Let controllers and pods go on until nothing changes."""
    for _ in range(8):
        cluster = stateful.gone(controlled(cluster, lambda _, taken: len(tuple(taken))))
        for one in cluster.sets:
            for index, pod in enumerate(one.pods):
                if pod.phase == STARTING:
                    phase = scene.fate(one.template.image)
                    cluster = rules.pod_became(cluster, one.template, index, phase)
    return cluster


def _judged(cluster: Cluster, image: str) -> JudgedVersion:
    """Return a version as an attempt remembers it."""
    live = shown.live_of(cluster)
    assert live.workload is not None
    settings = configuration.live(configuration.served(image))
    members = FrozenMap((one.ref, applied_digest(one)) for one in (live, settings))
    name = shown.set_name(cluster.template)
    return JudgedVersion(template_digest(live.workload.template), (), members, name)


def _bodies(image: str) -> Iterator[tuple[LiveObject, Body]]:
    """Yield what was applied of a version."""
    deployment = rules.created(Cluster(latest=100), rules.GATE, image, REPLICAS)
    for live in (shown.live_of(deployment), configuration.live(configuration.served(image))):
        body = applied_body(live)
        assert body is not None
        yield live, body


@functools.lru_cache(maxsize=1 << 14)
def plan_of(
    cluster: Cluster, scene: Scene, history: History = NO_HISTORY, settings: Settings | None = None
) -> Plan | None:
    """Return what a preflight plans over a cluster, None where it refuses.

    It refuses a paused Deployment, and fields that somebody else owns: that is its dry run.
    """
    if cluster.uid and (cluster.paused or rules.conflicts(cluster, Apply(WANTED, REPLICAS))):
        return None
    snapshot = snapshot_of(cluster)
    trial = shown.live_of(rules.applied(cluster, Apply(WANTED, REPLICAS)))
    ref, body = shown.ref_of(cluster), _manifest(cluster.ordered)
    targets = (Target(ref, snapshot, baseline_of(snapshot)),)
    objects: tuple[PlannedObject, ...] = (PlannedObject(ref, live_fact(cluster), trial),)
    writes: tuple[PlannedWrite, ...] = (PlannedWrite(ref, Verb.APPLY, body),)
    if settings is not None:
        beside = configuration.planned(settings, WANTED)
        if beside is None:
            return None
        objects, writes = (beside[0], *objects), (beside[1], *writes)
        if scene.configured_last or scene.configured_once:
            objects, writes = objects[::-1], writes[::-1]
        if scene.configured_once:
            writes = in_phases(writes, targets, {SETTINGS: (ref,)})
    chosen = select(Candidates(targets, objects, {ref: history}), {})
    return Plan(
        command="apply",
        targets=chosen.targets,
        objects=objects,
        writes=writes,
        policy=scene.policy,
        target_set=chosen.target_set,
    )


@functools.cache
def _manifest(ordered: bool) -> Body:
    """Return what each attempt applies."""
    return Body.of(shown.manifest(WANTED, REPLICAS, ordered=ordered))


def begun(world: World, scene: Scene) -> Stepped:
    """Begin the next attempt: first what finishes one that was left open, where it wrote anything.

    An apply ends before it begins where its preflight refuses.
    """
    number, lease = world.number + 1, world.lease
    world = world._replace(number=number, again="", deaf=(), evicted=(), past=None, watching=True)
    recovery = recovery_of(world)
    if recovery is not None:
        books = world.books._replace(journal="", read="", taken=False, blind_seconds=0.0)
        books = books._replace(refused=False, failed=False, lost=(), unseen=False, blocking="")
        return _begun(world._replace(books=books), recovery)
    plan = plan_of(world.cluster, scene, lease.history, world.settings)
    found = configuration.values(world.settings)
    books = Books(
        found=world.cluster.template,
        served=_returned_to(world.cluster, lease.history),
        settings=found,
        returned=_configuration_returned_to(world, scene),
        others=world.books.others,
        trouble=world.books.trouble,
    )
    world = world._replace(lease=lease._replace(record=None), books=books)
    if plan is None:
        return Stepped(world._replace(attempt=None))
    return _begun(world, plan)


def _returned_to(cluster: Cluster, history: History) -> str:
    """Return the image that a failure may return to: what serves, else what was verified last.

    Where a version stands that an attempt knows to be bad, and none was verified, it is the older
    one whose pods still serve.
    """
    if cluster.template.image != KEPT and (stands := rules.stands(cluster)):
        return stands
    sets = {shown.set_name(Template(image)): image for image in shown.REVISIONS}
    verified = (sets.get(one.replica_set, "") for one in history.verified)
    if history.verified:
        return next((image for image in verified if image != WANTED), "")
    serving = [one for one in cluster.sets if one.ready and one.template != cluster.template]
    return serving[-1].template.image if serving and _is_bad(cluster, history) else ""


def _is_bad(cluster: Cluster, history: History) -> bool:
    """Tell whether an attempt left what runs because it failed."""
    live = shown.live_of(cluster).workload
    judged = history.of_template(live.template) if live is not None else None
    return judged is not None and judged.failed


def _configuration_returned_to(world: World, scene: Scene) -> tuple[str, ...]:
    """Return what a failure makes of the ConfigMap: what was found, or what was verified last.

    The latter where a bad version runs that an attempt left, and where a rollback that failed left
    the Deployment without all of its pods, or beside the bad version's configuration.
    """
    found = world.settings
    is_kept = world.cluster.template.image == KEPT or _is_bad(world.cluster, world.lease.history)
    is_unfinished = not rules.serves(world.cluster) or _is_unchanged_by_others(found)
    is_half_back = world.cluster.template.image == BEFORE and is_unfinished
    if scene.kept and (is_kept or is_half_back):
        return configuration.values(configuration.served(BEFORE))
    return configuration.values(found)


def _is_unchanged_by_others(settings: Settings | None) -> bool:
    """Tell whether the ConfigMap is as an attempt applied it, and not as it was at first."""
    return settings is not None and BEFORE != settings.mode.value == settings.level.value


def recovery_of(world: World) -> Plan | None:
    """Return the plan that finishes what was left open, None where there is nothing of it."""
    record, cluster = world.lease.record, world.cluster
    if record is None:
        return None
    ref = shown.ref_of(cluster)
    found = {ref: live_fact(cluster)}
    if world.settings is not None:
        found[SETTINGS] = Known(configuration.live(world.settings))
    return resume(record, found, {ref: snapshot_of(cluster)}, 0.0)


def _begun(world: World, plan: Plan) -> Stepped:
    attempt, asked = begin(plan, 0.0)
    return Stepped(world._replace(attempt=attempt), asked)


def live_fact(cluster: Cluster) -> Fact[LiveObject]:
    """Return what a read of the Deployment tells."""
    return Known(shown.live_of(cluster)) if cluster.uid else Absent()


def snapshot_of(cluster: Cluster) -> Snapshot:
    """Return what is known of the Deployment once all is listed."""
    snapshot = unseen(shown.ref_of(cluster))
    for fact in listed(cluster, 0.0):
        snapshot = snapshot.fold(fact)
    return snapshot


def listed(cluster: Cluster, at: float) -> tuple[Listed, ...]:
    """Return what lists of all kinds tell."""
    found = (shown.workload(cluster),) if cluster.uid else ()
    ref = shown.ref_of(cluster)
    return (
        Listed(at, shown.kind_of(cluster), ref, found),
        Listed(at, shown.revision_kind_of(cluster), ref, shown.revisions(cluster)),
        Listed(at, Kind.POD, ref, shown.pods(cluster)),
    )
