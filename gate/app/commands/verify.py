"""`verify`: judges and reports what somebody else rolled out; writes nothing but its lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from gate.app.command_context import CommandContext, connect
from gate.app.commands.verified_workloads import (
    advise_names,
    find_workloads,
    name_rights,
    needed_rights,
    require_selector,
    useful_rights,
)
from gate.app.execution.run import Ready, run
from gate.app.locks.command_locks import reading_permissions, recall_history, wished_permissions
from gate.app.locks.unfinished_attempt import LockFacts, read_lock_facts
from gate.app.preflight import first_questions
from gate.app.preflight.check_subjects import require_answerable
from gate.app.preflight.check_trial import try_checks
from gate.app.preflight.return_target import read_beside, with_neighbours
from gate.app.runtime.command_end import run_attempt
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.live_state import read_object, selector_of
from gate.app.runtime.watches import Watching
from gate.app.runtime.workload_names import workload_ref
from gate.app.runtime.world import World
from gate.config import Settings, policy
from gate.config.limits import all_checks
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import has_way_back, locks_of
from gate.core.model.body import FrozenMap
from gate.core.model.configuration_references import configuration_refs
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.target_set import AppliedVersion, TargetSet, UndoLimits
from gate.core.rollout.baseline import find_serving_beside
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.steps.timeline import describe_situation
from gate.core.versions.candidates import Candidates
from gate.core.versions.doubts import with_doubts
from gate.core.versions.history import History
from gate.core.versions.undo_choice import (
    Choice,
    choose_version,
    is_restored,
    version_before,
    version_of,
)
from gate.core.versions.undo_conflicts import conflicting_managers
from gate.core.versions.undo_set import is_locked, lacking_after, undo_members
from gate.errors import GateError, RefusedError
from gate.kube.rights.access import Permission


class UnexpectedImage(GateError):
    """What runs is not what should be verified. Exit 6."""

    outcome = Outcome.FAILED


def verify(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Judge what somebody else rolls out; with `--rbac` print the Role instead."""
    return run_attempt(world, "verify", settings, partial(run_verify, names=names))


def run_verify(start: CommandStart, names: tuple[str, ...]) -> Attempt | int:
    """Go through the phases of a `verify`: those of an apply, without its recovery."""
    with start.ends_at_signal():
        # Read: what the checks need of this machine, and the selector.
        require_answerable(start.settings, all_checks(start.settings))
        require_selector(start.settings.selector)

        # Connect: from the kubeconfig; the server is not asked anything yet.
        context = connect(start)
        if start.settings.rbac:
            context.console.write(role(context, names))
            return 0

        # Guard: the right cluster, the right to look, and workloads to look at.
        refs = _guard(context, names)

        # Lock the workloads. An open record stays: it is not for `verify` to finish it.
        facts = {ref: read_lock_facts(context.session, ref, start.world.processes) for ref in refs}
        _refuse_way_back(facts)
        for one in facts.values():
            for line in filter(None, (one.unread, one.recovery)):
                context.console.warn(line)
        if all(one.unfinished for one in facts.values()):
            context.console.record_stays()
        context = context.with_locks(locks_of(refs, context.session.namespace))

        # Plan: nothing is written; what runs is followed as it is.
        ready = plan_verify(context.with_lock_lane(), refs)

    # Run: follow and judge.
    return run(ready)


def _guard(context: CommandContext, names: tuple[str, ...]) -> tuple[Ref, ...]:
    """Announce the cluster, refuse a wrong one; return the workloads to verify."""
    session, settings = context.session, context.settings
    first_questions.announce(context)
    first_questions.check_cluster(context, [session.namespace])
    asked_for = (session.namespace, names, settings.selector)
    needs, wished = needed_rights(*asked_for), _wished_rights(context, names)
    place = (session.connection.cluster, session.namespace)
    advise = partial(advise_names, *place, settings.selector)
    first_questions.check_access(session, name_rights(*asked_for), needs, wished, advise)
    return tuple(sorted(find_workloads(session, names, settings.selector)))


def _refuse_way_back(facts: Mapping[Ref, LockFacts]) -> None:
    """Refuse to judge what an attempt has still to take back.

    It may be complete as it is, but it is neither what was applied nor what was there before.
    """
    for ref, one in ((ref, found.unfinished) for ref, found in facts.items()):
        if one is not None and one.record is not None and one.is_going_back and has_way_back(ref):
            why = f" ({one.record.why[0].reason})" if one.record.why else ""
            raise RefusedError(
                f"an attempt on {ref} was on its way back{why} and is unfinished: what runs may not"
                " be what is to run",
                reason=Reason.LOCKED,
                hint=one.recovery,
            )


def role(context: CommandContext, names: tuple[str, ...]) -> str:
    """Return the Role that `verify` needs for this: to read, and to hold locks if used."""
    asked_for = (context.session.namespace, names, context.settings.selector)
    wanted = {*needed_rights(*asked_for), *_wished_rights(context, names)}
    return first_questions.printed_role(context, name_rights(*asked_for), wanted)


def _wished_rights(context: CommandContext, names: tuple[str, ...]) -> set[Permission]:
    """Return the rights whose lack is only a warning: for nodes and locks."""
    namespace, settings = context.session.namespace, context.settings
    locking = wished_permissions(settings, [namespace])
    reading = reading_permissions(namespace, (workload_ref(namespace, name) for name in names))
    return {*useful_rights(namespace, names, settings.selector), *reading, *locking}


def plan_verify(context: CommandContext, refs: tuple[Ref, ...]) -> Ready:
    """Prepare to follow workloads, as they are, to a verdict."""
    session, settings, console = context.session, context.settings, context.console
    lives = [read_object(session, ref) for ref in refs]
    watching = Watching(session, {live.ref: selector_of(live) for live in lives})
    watching.start()
    watching.settle(settings.connect_timeout)
    watching.warn_of_unread(console.warn)
    _expect_images(watching, refs, settings.expect_image)
    histories = {live.ref: recall_history(session, live.ref) for live in lives}
    beside = read_beside(session, histories.values(), refs)
    digests = {**digests_of(beside), **{live.ref: applied_digest(live) for live in lives}}
    targets = tuple(_target(watching.target(ref), histories[ref], digests) for ref in histories)
    nothing = "nothing" if context.lock_lane is None else "nothing but the lock"
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
    )
    plan = replace(plan, target_set=_target_set(context, plan, lives, histories, beside))
    try_checks(context, targets, is_under_way=True)
    return Ready(context, plan, watching)


def _target(target: Target, history: History, digests: Mapping[Ref, str]) -> Target:
    """Return the target with what a person would return to: `verify` itself never does."""
    baseline = version_before(target, history, digests)
    return replace(target, baseline=baseline, is_restored=is_restored(target.snapshot, history))


def _target_set(
    context: CommandContext,
    plan: Plan,
    lives: Sequence[LiveObject],
    histories: Mapping[Ref, History],
    beside: LiveFacts,
) -> TargetSet:
    """Return what an undo of each workload would lack or conflict with, and what a check left.

    If no gate verified what it would return to, that is the pod template without its configuration.
    Warns of lacking objects that are immutable now. `lives` are in the order of the targets.
    """
    objects = tuple(PlannedObject(live.ref, Known(live)) for live in lives)
    candidates = Candidates(plan.targets, objects, histories, beside=beside)
    candidates = with_neighbours(context.session, candidates, undo_members(candidates, {}))
    digests = candidates.live_digests()
    lacks = lacking_after(candidates, digests, {})
    for ref in sorted({ref for refs in lacks.values() for ref in refs}):
        fact = beside.get(ref)
        if isinstance(fact, Known) and is_locked(fact.value):
            context.console.warn(f"{ref} is immutable now: delete it first to write it again")
    conflicts: dict[Ref, tuple[str, ...]] = {}
    for live, target in zip(lives, plan.targets, strict=True):
        choice = choose_version(target.snapshot, histories[live.ref], digests)
        if choice.version is None and choice.revision is not None:
            refs = configuration_refs(choice.revision.template, live.ref.namespace)
            lacks = lacks.put(live.ref, refs) if refs else lacks
        choices = [choice]
        if (serving := find_serving_beside(target.snapshot)) is not None:
            choices.append(Choice(version_of(serving, histories[live.ref]), serving))
        found = (conflicting_managers(live, one, histories[live.ref]) for one in choices)
        if managers := sorted({manager for one in found for manager in one}):
            conflicts[live.ref] = tuple(managers)
    applied = with_doubts(candidates, plan, AppliedVersion())
    return TargetSet(applied=applied, undo=UndoLimits(lacks, FrozenMap(conflicts)))


def _expect_images(watching: Watching, refs: tuple[Ref, ...], expected: tuple[str, ...]) -> None:
    """Raise UnexpectedImage unless each expected image is in at least one of the workloads."""
    lives = [watching.snapshot(ref).live for ref in refs]
    running = {image for live in lives if live is not None for image in live.template.images()}
    missing = [image for image in expected if image not in running]
    if missing:
        raise UnexpectedImage(
            f"{', '.join(map(str, refs))} runs {', '.join(sorted(running))}, "
            f"not {', '.join(missing)}",
            reason=Reason.SUPERSEDED,
            hint="has the rollout that should be verified started at all?",
        )
