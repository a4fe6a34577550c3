"""How attempts of the model begin: over which cluster, with which plan, and what is left open."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target, in_phases
from gate.core.recovery.resumption import resume
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.causes import Cause
from gate.core.rollout.observations import Kind, Listed
from gate.core.rollout.snapshot import Snapshot
from gate.core.ssa.applied_fields import applied_body, applied_digest
from gate.core.steps.step import begin
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.selection import select
from tests.model import cluster as rules
from tests.model import configuration, shown, stateful
from tests.model.cluster import STARTING, Apply, Cluster, Template, name_of
from tests.model.configuration import SETTINGS, Settings
from tests.model.stateful import controlled
from tests.model.world import BEFORE, KEPT, REPLICAS, WANTED, Books, Lease, Scene, Stepped, World

NO_HISTORY: Final = History()


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
    name = name_of(cluster.template)
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
        books = world.books._replace(record_leg="", read="", taken=False, blind_seconds=0.0)
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
    sets = {name_of(Template(image)): image for image in shown.REVISIONS}
    verified = (sets.get(one.revision_name, "") for one in history.verified)
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
