"""`undo`, `restart`, `pause`, `resume`: plans with one write to one Deployment."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from gate.app import arrival
from gate.app.applying import prepare, taken_fields
from gate.app.console import Console
from gate.app.guards import refuse_managed, refuse_paused
from gate.app.live import Live, read_live, selector_of
from gate.app.preflight import NO_DRY_RUN, Warn, autoscaled, rehearse_on_server, resumption
from gate.app.remembering import Claim
from gate.app.running import Ready
from gate.app.session import Session
from gate.app.target_age import within_age
from gate.app.watching import Watching
from gate.config import Settings, policy
from gate.core import fields, ownership
from gate.core.baseline import Baseline
from gate.core.body import Body
from gate.core.effects import Verb, Write
from gate.core.events import LiveObject
from gate.core.fact import Known
from gate.core.objects import Ref, ReplicaSet, deployment_ref
from gate.core.outcome import Reason
from gate.core.plan import Plan, PlannedObject, PlannedWrite
from gate.errors import RefusedError
from gate.kube.access import needed
from gate.kube.failures import FieldManagerConflict, Forbidden
from gate.kube.reads import Reader
from gate.kube.writes import Writer

RESTART_MANAGER = "rollout-gate-restart"
"""Another manager than the applies': the next apply would remove the annotation and roll again."""
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"

Command = Callable[[Session, Settings, str, Console, Claim], Ready]


def undo(
    session: Session,
    settings: Settings,
    name: str,
    console: Console,
    claim: Claim,
) -> Ready:
    """Prepare to return to an earlier revision, verified and safe as any apply."""
    live = _found(session, settings, name)
    ref = live.object.ref
    if live.deployment.paused:
        console.warn(f"{ref} is paused: it is resumed for the undo")
    target = _version(session, live, settings.to_revision, claim.memory.history(ref).verified)
    images = ", ".join(target.template.images())
    console.note("undo", f"{ref} goes to revision {target.revision} ({images})")
    reader = Reader(session.client, session.resources, session.clock)
    take_over = (*settings.take_over, *_restarters(live.object))
    item = prepare(
        ref,
        _with_template(live.object, target, take_over),
        Known(live.object),
        take_over=take_over,
        autoscaled=ref in autoscaled(reader, [ref.namespace], console.warn),
        force=settings.force_conflicts,
    )
    trials = rehearse_on_server(session, (item,), console.warn)
    planned = item.planned(trials.get(ref))
    resumed = (resumption(ref),) if live.deployment.paused else ()
    writes = (*item.writes(), *resumed)
    draft = Plan("undo", (), (planned,), writes, policy(settings))
    return _followed(session, settings, live, draft, claim, console.warn)


def restart(
    session: Session,
    settings: Settings,
    name: str,
    console: Console,
    claim: Claim,
) -> Ready:
    """Prepare a rollout of the same version, as `kubectl rollout restart` starts one."""
    live = _found(session, settings, name)
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
    force = _is_owned_by_another(session, live.object, Body.of(body), console.warn)
    write = PlannedWrite(ref, Verb.APPLY, Body.of(body), RESTART_MANAGER, force=force)
    planned = PlannedObject(ref, Known(live.object))
    draft = Plan("restart", (), (planned,), (write,), policy(settings))
    return _followed(session, settings, live, draft, claim, console.warn)


def resume(
    session: Session,
    settings: Settings,
    name: str,
    console: Console,
    claim: Claim,
) -> Ready:
    """Prepare to let a paused Deployment go on, and to follow what that starts."""
    live = _found(session, settings, name)
    if not live.deployment.paused:
        console.note("resume", f"{live.object.ref} is not paused")
    planned = PlannedObject(live.object.ref, Known(live.object))
    writes = (resumption(live.object.ref),)
    draft = Plan("resume", (), (planned,), writes, policy(settings))
    return _followed(session, settings, live, draft, claim, console.warn)


def pause(
    session: Session,
    settings: Settings,
    name: str,
    _console: Console,
    _claim: Claim,
) -> Ready:
    """Prepare to pause a Deployment; there is nothing to follow then."""
    live = _found(session, settings, name)
    write = PlannedWrite(live.object.ref, Verb.MERGE, Body.of({"spec": {"paused": True}}))
    planned = PlannedObject(live.object.ref, Known(live.object))
    plan = Plan("pause", (), (planned,), (write,), policy(settings))
    return Ready(session, plan)


def arrive(session: Session, settings: Settings, name: str, console: Console) -> None:
    """Say where we are, refuse the wrong place and what is not there."""
    arrival.announce(session, console)
    arrival.check_cluster(session, settings, console, [session.namespace])
    _found(session, settings, name)


def _found(session: Session, settings: Settings, name: str) -> Live:
    """Make sure that we may, read what is there."""
    needs = needed(session.resources, [deployment_ref(session.namespace, name)], creates=())
    try:
        live = read_live(session, name)
    except Forbidden:
        arrival.check_access(session, name, needs)
        raise
    arrival.check_access(session, name, needs)
    if not settings.allow_managed:
        refuse_managed([live.object], session.connection.cluster)
    return live


def _followed(
    session: Session, settings: Settings, live: Live, draft: Plan, claim: Claim, warn: Warn
) -> Ready:
    """Watch the Deployment, and put it as the target into the plan."""
    ref = live.object.ref
    watching = Watching(session, {ref: selector_of(live.object)})
    watching.start()
    watching.settle(settings.connect_timeout)
    plan = replace(draft, targets=(watching.target(ref),))
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), warn)
    return Ready(session, plan, watching, claim.lease)


def _is_owned_by_another(session: Session, live: LiveObject, body: Body, warn: Warn) -> bool:
    """Try a restart on the server; tell whether `kubectl rollout restart` left its annotation."""
    writer = Writer(session.client, session.resources, session.clock)
    trial = Write(0, live.ref, Verb.APPLY, body, live.uid, None, RESTART_MANAGER)
    try:
        writer.dry_run(trial)
    except FieldManagerConflict:
        return True
    except RefusedError as error:
        if NO_DRY_RUN not in error.message:
            raise
        warn(f"{live.ref} was not tried: {error.message}")
    return False


def _version(
    session: Session, live: Live, number: int | None, verified: Baseline | None
) -> Baseline:
    """Return the version to go to: the one asked for, else the last that a gate verified.

    Where that is what runs, or none was verified, it is the newest revision before.
    """
    runs = live.deployment.template.body
    if number is None and verified is not None and verified.template.body != runs:
        known = (rs for rs in live.snapshot.owned() if rs.template.body == verified.template.body)
        return next(map(_as_version, known), verified)
    return _as_version(_revision(session, live, number))


def _as_version(replica_set: ReplicaSet) -> Baseline:
    return Baseline(replica_set.name, replica_set.revision, replica_set.template)


def _revision(session: Session, live: Live, number: int | None) -> ReplicaSet:
    """Return the revision to go to: the one asked for, else the newest before what runs."""
    if number is not None:
        found = live.revision(number)
        if found is None:
            known = sorted(rs.revision for rs in live.snapshot.owned() if rs.revision)
            raise RefusedError(
                f"{live.object.ref} has no revision {number}",
                reason=Reason.NOT_FOUND,
                hint=f"there are: {', '.join(map(str, known)) or 'none'}",
            )
        return found
    current = live.snapshot.current()
    newest = current.revision if current is not None else None
    older = [
        rs
        for rs in live.snapshot.owned()
        if rs is not current
        and rs.revision is not None
        and (newest is None or rs.revision < newest)
    ]
    if not older:
        raise RefusedError(
            f"{live.object.ref} has no earlier revision",
            reason=Reason.NO_BASELINE,
            hint=f"see what there is: {_command(session, 'history', live.object.ref)}",
        )
    return max(older, key=lambda rs: rs.revision or 0)


def _command(session: Session, verb: str, ref: Ref) -> str:
    """Return a command about a Deployment, ready to be pasted."""
    words = ("rollout-gate", verb, ref.name)
    return session.connection.cluster.command(*words, namespace=ref.namespace)


def _restarters(live: LiveObject) -> tuple[str, ...]:
    """Return the managers that own nothing but the time of a restart, ours and kubectl's.

    It is part of the template that an undo leaves, and no change that anybody would miss.
    """
    restarted = f"spec.template.metadata.annotations.{RESTARTED_AT}"
    return tuple(
        str(entry.get("manager"))
        for entry in live.managed.thaw()["managedFields"]
        if fields.paths(entry.get("fieldsV1")) == (restarted,)
    )


def _with_template(
    live: LiveObject, target: Baseline, take_over: Collection[str]
) -> dict[str, Any]:
    """Return what the gate applies now, with the template of another revision.

    An apply of the template alone would reset replicas and deadline to their defaults.
    """
    managed = live.managed.thaw()["managedFields"]
    taken = taken_fields(managed, take_over) or managed
    body = ownership.restoration(live.body.thaw(), taken, taken, forced=False)
    return {**body, "spec": {**body.get("spec", {}), "template": _template(target)}}


def _template(target: Baseline) -> dict[str, Any]:
    """Return a version's template without the null that servers before 1.34 write into it."""
    template = target.template.body.thaw()
    metadata = template.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if value is not None}
    return {**template, "metadata": kept}


COMMANDS: dict[str, Command] = {
    "undo": undo,
    "restart": restart,
    "resume": resume,
    "pause": pause,
}
"""By the name that a person calls them."""
LOCKING: frozenset[str] = frozenset(COMMANDS) - {"pause"}
"""The commands that take a lock; a pause has to be possible while somebody else has it."""
