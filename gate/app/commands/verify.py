"""`verify`: judges and reports what somebody else rolled out; writes nothing but its lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.app.execution.run import Ready
from gate.app.locks.command_locks import recall_history, wished_permissions
from gate.app.locks.tasks import LockLane
from gate.app.preflight import first_questions
from gate.app.preflight.check_trial import try_checks
from gate.app.preflight.return_target import Facts, read_beside
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import read_object, selector_of
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.app.runtime.workload_names import workload_ref
from gate.config import Settings, policy
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Workload
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.target_set import TargetSet
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.steps.timeline import describe_situation
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.undo_choice import choose_version, version_before
from gate.core.versions.undo_conflicts import conflicting_managers
from gate.core.versions.undo_set import is_locked, lacking_after
from gate.errors import GateError, RefusedError, UsageError
from gate.kube.access import following
from gate.kube.kinds import registry
from gate.kube.lists import list_all

_ABOUT: Final = "verify"
"""The name for its Role, which is the same for every Deployment of a namespace."""


class UnexpectedImage(GateError):
    """What runs is not what should be verified. Exit 6."""

    outcome = Outcome.FAILED


def arrive(
    session: Session, settings: Settings, names: tuple[str, ...], console: Console
) -> tuple[Ref, ...]:
    """Announce the cluster, refuse a wrong one; return the Deployments to verify."""
    first_questions.announce(session, console)
    first_questions.check_cluster(session, settings, console, [session.namespace])
    needs, wished = (
        following(session.namespace, registry.DEFAULT),
        wished_permissions(settings, [session.namespace]),
    )
    first_questions.check_access(session, _ABOUT, needs, wished)
    return _refs(session, settings, names)


def role(session: Session, settings: Settings) -> str:
    """Return the Role that `verify` needs in a namespace: to read, and to hold locks if used."""
    namespace = session.namespace
    wanted = {*following(namespace, registry.DEFAULT), *wished_permissions(settings, [namespace])}
    return first_questions.printed_role(session, settings, _ABOUT, wanted)


def verify(
    session: Session,
    settings: Settings,
    refs: tuple[Ref, ...],
    console: Console,
    lock_lane: LockLane | None = None,
) -> Ready:
    """Prepare to follow Deployments, as they are, to a verdict."""
    lives = [read_object(session, ref) for ref in refs]
    watching = Watching(session, {live.ref: selector_of(live) for live in lives})
    watching.start()
    watching.settle(settings.connect_timeout)
    _expect_images(watching, refs, settings.expect_image)
    histories = {live.ref: recall_history(session, live.ref) for live in lives}
    beside = read_beside(session, histories.values(), refs)
    digests = {**digests_of(beside), **{live.ref: applied_digest(live) for live in lives}}
    targets = tuple(_target(watching.target(ref), histories[ref], digests) for ref in histories)
    nothing = "nothing" if lock_lane is None else "nothing but the lock"
    console.note("following", f"{', '.join(map(str, refs))}: {nothing} is written")
    for target in targets:
        for event, line in describe_situation(str(target.ref), target.snapshot):
            console.note(event, line)
    plan = Plan(
        "verify",
        targets,
        (),
        (),
        policy(settings),
        may_retreat=False,
        target_set=_target_set(lives, targets, histories, beside, console),
    )
    try_checks(session, settings, targets, console, is_under_way=True)
    return Ready(session, plan, watching, lock_lane)


def _target(target: Target, history: History, digests: Mapping[Ref, str]) -> Target:
    """Return the target with what a person would return to: `verify` itself never does."""
    return replace(target, baseline=version_before(target, history, digests))


def _target_set(
    lives: Sequence[LiveObject],
    targets: tuple[Target, ...],
    histories: Mapping[Ref, History],
    beside: Facts,
    console: Console,
) -> TargetSet:
    """Return what an undo of each Deployment would lack or conflict with.

    Warns of lacking objects that are immutable now. `lives` are in the order of the targets.
    """
    objects = tuple(PlannedObject(live.ref, Known(live)) for live in lives)
    candidates = Candidates(targets, objects, histories, beside=beside)
    digests = candidates.standing()
    lacks = lacking_after(candidates, digests, {})
    for ref in sorted({ref for refs in lacks.values() for ref in refs}):
        fact = beside.get(ref)
        if isinstance(fact, Known) and is_locked(fact.value):
            console.warn(f"{ref} is immutable now: to write it anew it has to be deleted first")
    conflicts: dict[Ref, tuple[str, ...]] = {}
    for live, target in zip(lives, targets, strict=True):
        choice = choose_version(target.snapshot, histories[live.ref], digests)
        if managers := conflicting_managers(live, choice, histories[live.ref]):
            conflicts[live.ref] = managers
    return TargetSet(undo_lacks=lacks, undo_conflicts=FrozenMap(conflicts))


def require_selector(selector: str | None) -> None:
    """Raise UsageError for a label selector that no server can parse, before asking one."""
    if selector is None:
        return
    from sandbox.failure import ApiError
    from sandbox.storage.label_selectors import parse_labels

    try:
        parse_labels(selector)
    except ApiError as error:
        hint = "as in -l app=web, or -l 'app in (web, api),tier!=test'"
        raise UsageError(f"-l: no label selector: {error.message}", hint=hint) from error


def _refs(session: Session, settings: Settings, names: tuple[str, ...]) -> tuple[Ref, ...]:
    found = set(names)
    if settings.selector:
        selection = (("labelSelector", settings.selector),)
        listing = list_all(
            session.client, registry.DEFAULT.watched.kind, session.namespace, selection
        )
        found |= {one.ref.name for one in listing.objects if isinstance(one, Workload)}
    if not found:
        raise RefusedError(
            f"no Deployment in namespace {session.namespace} has the labels {settings.selector}",
            reason=Reason.NOT_FOUND,
            hint="is the namespace right? -n NAMESPACE",
        )
    return tuple(workload_ref(session.namespace, name) for name in sorted(found))


def _expect_images(watching: Watching, refs: tuple[Ref, ...], expected: tuple[str, ...]) -> None:
    """Raise UnexpectedImage unless each expected image is in at least one of the Deployments."""
    lives = [watching.snapshot(ref).live for ref in refs]
    running = {image for live in lives if live is not None for image in live.template.images()}
    missing = [image for image in expected if image not in running]
    if missing:
        raise UnexpectedImage(
            f"{', '.join(map(str, refs))} runs {', '.join(sorted(running))}, "
            f"not {', '.join(missing)}",
            reason=Reason.SUPERSEDED,
            hint="did the rollout that should be verified start at all?",
        )
