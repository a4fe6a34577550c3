"""`restart`, `pause`, `resume`: plans with one write to one Deployment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from gate.app.commands.undo import locks_of_sets, undo
from gate.app.commands.undo_revision import named_revision
from gate.app.execution.run import Ready
from gate.app.locks.command_locks import look_at_locks, wished_permissions
from gate.app.locks.memory import Claim
from gate.app.preflight import first_questions, return_target
from gate.app.preflight.guards import (
    refuse_deleting,
    refuse_managed,
    refuse_paused,
    refuse_protected_plan,
)
from gate.app.preflight.plan import NO_DRY_RUN, Warn, resumption
from gate.app.preflight.target_age import within_age
from gate.app.preflight.way_back_dry_run import with_way_back
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import Live, read_live, read_object, selector_of
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.app.runtime.workload_names import workload_ref
from gate.config import Settings, policy
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref, Revision
from gate.core.model.outcome import Outcome
from gate.core.plan.journal_record import Record
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target
from gate.core.protocol.effects import Write
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.versions.history import History
from gate.core.versions.judged_version import RESTARTED_AT
from gate.core.versions.obstacles import obstacle
from gate.errors import RefusedError
from gate.kube.access import Permission, list_needed, one_change
from gate.kube.failures import FieldManagerConflict, Forbidden
from gate.kube.writes import Writer

_Read = TypeVar("_Read")

RESTART_MANAGER = "rollout-gate-restart"
"""Not the applies' manager: else the next apply would remove the annotation and roll out again."""

Command = Callable[[Session, Settings, str, Console, Claim], Ready]


def restart(
    session: Session,
    settings: Settings,
    name: str,
    console: Console,
    claim: Claim,
) -> Ready:
    """Prepare a rollout of the same version, as `kubectl rollout restart` starts one."""
    live = _check_and_read(session, settings, name)
    ref = live.object.ref
    hint = f"when whoever paused it agrees, resume it: {_command(session, 'resume', ref)}"
    refuse_paused([live.object], hint=hint)
    at = session.clock.wall().isoformat(timespec="seconds").replace("+00:00", "Z")
    annotated = {"metadata": {"annotations": {RESTARTED_AT: at}}}
    body = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {"template": annotated},
    }
    force, trial = _try_restart(session, live.object, Body.of(body), console.warn)
    write = PlannedWrite(ref, Verb.APPLY, Body.of(body), RESTART_MANAGER, force=force)
    planned = PlannedObject(ref, Known(live.object))
    draft = Plan("restart", (), (planned,), (write,), policy(settings))
    return _watch_target(session, settings, _Draft(live, draft, trial), claim, console)


def resume(
    session: Session,
    settings: Settings,
    name: str,
    console: Console,
    claim: Claim,
) -> Ready:
    """Prepare to resume a paused Deployment, and to follow the rollout that this starts."""
    live = _check_and_read(session, settings, name)
    if not live.workload.paused:
        console.note("resume", f"{live.object.ref} is not paused")
    planned = PlannedObject(live.object.ref, Known(live.object))
    writes = (resumption(live.object.ref),)
    draft = Plan("resume", (), (planned,), writes, policy(settings))
    return _watch_target(session, settings, _Draft(live, draft), claim, console)


def pause(
    session: Session,
    settings: Settings,
    name: str,
    _console: Console,
    _claim: Claim,
) -> Ready:
    """Prepare to pause a Deployment; afterwards there is nothing to follow.

    It takes no lock: a pause must be possible while a run holds it (`execution.concurrent_run`).
    """
    live = _alone(session, settings, name)
    body = Body.of({"spec": {"paused": True}})
    write = PlannedWrite(live.ref, Verb.MERGE, body, over_any_change=True)
    planned = PlannedObject(live.ref, Known(live))
    plan = Plan("pause", (), (planned,), (write,), policy(settings))
    return Ready(session, plan)


def arrive(
    session: Session, settings: Settings, name: str, console: Console, command: str
) -> Revision | None:
    """Announce the cluster, refuse a wrong one, or a Deployment that does not exist.

    Returns the ReplicaSet that `undo --to-revision` names, by its number as the command begins.
    """
    first_questions.announce(session, console)
    first_questions.check_cluster(session, settings, console, [session.namespace])
    if command == "pause":
        _alone(session, settings, name)
        return None
    live = _check_and_read(session, settings, name)
    return named_revision(settings, live) if command == "undo" else None


def command_of(name: str, named: Revision | None) -> Command:
    """Return what prepares a command; `named` is what `undo --to-revision` returns to."""
    return COMMANDS[name] if named is None else partial(undo, named=named)


def _check_and_read(session: Session, settings: Settings, name: str) -> Live:
    """Check permissions and guards; return the Deployment and what it owns."""
    needs = list_needed(session.resources, [workload_ref(session.namespace, name)], creates=())
    wished = tuple(wished_permissions(settings, [session.namespace]))
    live = _read_with_rights(session, name, needs, wished, lambda: read_live(session, name))
    _refuse_guarded(session, settings, live.object)
    return live


def _alone(session: Session, settings: Settings, name: str) -> LiveObject:
    """Check permissions and guards; return the Deployment alone, without what it owns."""
    ref = workload_ref(session.namespace, name)
    needs = one_change(session.resources, ref)
    live = _read_with_rights(session, name, needs, (), lambda: read_object(session, ref))
    _refuse_guarded(session, settings, live)
    return live


def _read_with_rights(
    session: Session,
    name: str,
    needs: Iterable[Permission],
    wished: tuple[Permission, ...],
    read: Callable[[], _Read],
) -> _Read:
    """Read, and refuse if permissions are missing, naming all of them at once."""
    try:
        found = read()
    except Forbidden:
        first_questions.check_access(session, name, needs, wished)
        raise
    first_questions.check_access(session, name, needs, wished)
    return found


def _refuse_guarded(session: Session, settings: Settings, live: LiveObject) -> None:
    refuse_deleting([live], session.connection.cluster)
    if not settings.allow_managed:
        refuse_managed([live], session.connection.cluster)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A plan without a target, the Deployment, and the dry run's result if there was one."""

    live: Live
    plan: Plan
    trial: LiveObject | None = None


def _watch_target(
    session: Session, settings: Settings, draft: _Draft, claim: Claim, console: Console
) -> Ready:
    """Watch the Deployment, make it the plan's target, and check the way back."""
    live = draft.live
    ref = live.object.ref
    watching = Watching(session, {ref: selector_of(live.object)})
    watching.start()
    watching.settle(settings.connect_timeout)
    target = watching.target(ref)
    history = claim.memory.history(ref)
    beside = return_target.read_beside(session, [history], [ref])
    members = _members(live, target, history, beside)
    objects = (*members, *draft.plan.objects)
    plan = replace(draft.plan, targets=(target,), objects=objects)
    plan = return_target.with_target_set(session, plan, claim.memory, beside)
    refuse_protected_plan(plan, settings.protected_namespace)
    restored = [one for one in plan.target_set.bodies if one != ref]
    needs = list_needed(session.resources, [ref, *restored], creates=())
    wished = wished_permissions(settings, [session.namespace])
    first_questions.check_access(session, ref.name, needs, wished)
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), console.caution)
    trials = {ref: draft.trial} if draft.trial is not None else {}
    allowed = settings.allow_irreversible
    plan = with_way_back(session, plan, allowed=allowed, warn=console.warn, trials=trials)
    return_target.describe(plan, console.note, console.caution)
    return Ready(session, plan, watching, claim.lock_lane)


def _members(
    live: Live, target: Target, history: History, beside: return_target.Facts
) -> list[PlannedObject]:
    """Return the objects that may have to go back with a Deployment that returns to a verified set.

    There are none if it returns to what runs.
    """
    digests = {**digests_of(beside), target.ref: applied_digest(live.object)}
    if obstacle(target, history, digests) is None:
        return []
    return [PlannedObject(ref, fact) for ref, fact in beside.items() if isinstance(fact, Known)]


def _try_restart(
    session: Session, live: LiveObject, body: Body, warn: Warn
) -> tuple[bool, LiveObject | None]:
    """Dry-run a restart on the server; return whether it needs force, and its result.

    It does if `kubectl rollout restart` left its annotation. The result is None if a webhook
    supports no dry run.
    """
    writer = Writer(session.client, session.resources, session.clock)
    trial = Write(0, live.ref, Verb.APPLY, body, live.uid, None, RESTART_MANAGER)
    try:
        return False, writer.dry_run(trial)
    except FieldManagerConflict:
        return True, writer.dry_run(replace(trial, force=True))
    except RefusedError as error:
        if NO_DRY_RUN not in error.message:
            raise
        warn(f"{live.ref} was not tried: {error.message}")
    return False, None


def _command(session: Session, verb: str, ref: Ref) -> str:
    """Return a command about a Deployment, ready to paste."""
    words = ("rollout-gate", verb, ref.name)
    return session.connection.cluster.command(*words, namespace=ref.namespace)


COMMANDS: dict[str, Command] = {
    "undo": undo,
    "restart": restart,
    "resume": resume,
    "pause": pause,
}
"""What prepares each command, by its name on the command line."""


def undone_commands(settings: Settings, command: str) -> tuple[str, ...]:
    """Return the commands whose leftovers a recovery takes back, complete or not.

    Whoever undoes an interrupted restart wants what ran before it, of the same version.
    """
    return ("restart",) if command == "undo" and settings.to_revision is None else ()


def is_done(
    session: Session, settings: Settings, console: Console, command: str, name: str
) -> Callable[[Attempt], bool] | None:
    """Return a test whether a recovery has already done a command's work; None: it never has.

    If a dead gate had rolled out or restarted a version, an undo means that version. Once the
    recovery took it back, a further undo would return to the version before it. The same holds if
    the dead gate's command was an undo and the recovery completed it. It does not hold for an undo
    that the recovery took back, nor for a `resume`: what they come back to is still to be undone.
    """
    if command != "undo" or settings.to_revision is not None:
        return None
    ref = workload_ref(session.namespace, name)

    def is_undone(ended: Attempt) -> bool:
        resumed = ended.plan.resumed
        if resumed is None or not _has_undone(ended, resumed.record, ref):
            return False
        note = f"{ref}: what an earlier attempt had left is undone; it goes back no further"
        if resumed.record.command == "undo":
            note = f"{ref}: the undo that an earlier run began is complete; it goes back no further"
        console.note("undo", note)
        return True

    return is_undone


def _has_undone(ended: Attempt, record: Record, ref: Ref) -> bool:
    """Tell whether a recovery took back what a dead gate rolled out, or completed its undo."""
    if record.command == "undo":
        is_changed = any(kept.ref == ref and kept.changes for kept in record.objects)
        return is_changed and ended.outcome is Outcome.VERIFIED
    is_taken_back = ended.outcome is Outcome.ROLLED_BACK and _is_back(ended, ref)
    return record.command in ("apply", "restart") and is_taken_back


def _is_back(ended: Attempt, ref: Ref) -> bool:
    """Tell whether a recovery has restored a Deployment, or only the configuration beside it."""
    ending, restored = ended.result.endings.get(ref), ended.ledger.restored
    if ref in restored:
        return ending is not None and ending.outcome is Outcome.ROLLED_BACK
    return ending is not None and bool(restored) and not any(is_workload(one) for one in restored)


def locks(
    session: Session, settings: Settings, console: Console, command: str, name: str
) -> list[Lock]:
    """Return the locks that a command takes.

    `pause` takes none. `undo` takes those of all Deployments that it may restore.
    """
    if command == "pause":
        return []
    if command != "undo":
        return [lock_of(workload_ref(session.namespace, name))]
    memory = look_at_locks(session, settings, console, [workload_ref(session.namespace, name)])
    return locks_of_sets(name, memory, session.namespace)
