"""`undo`, `restart`, `pause`, `resume`: plans with one write to one Deployment."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gate.app import arrival
from gate.app.applying import prepare
from gate.app.console import Console
from gate.app.guards import refuse_managed, refuse_paused
from gate.app.live import Live, read_live
from gate.app.preflight import rehearse_on_server, resumption
from gate.app.running import run
from gate.app.session import Session
from gate.app.watching import Watching
from gate.config import Settings, policy
from gate.core import ownership
from gate.core.attempt import Attempt
from gate.core.body import Body
from gate.core.effects import FIELD_MANAGER, Verb
from gate.core.events import LiveObject
from gate.core.fact import Known
from gate.core.objects import ReplicaSet
from gate.core.outcome import Reason
from gate.core.plan import Plan, PlannedObject, PlannedWrite
from gate.errors import RefusedError, UsageError
from gate.kube.access import needed
from gate.kube.reads import Reader

RESTART_MANAGER = "rollout-gate-restart"
"""Another manager than the applies': the next apply would remove the annotation and roll again."""
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


def undo(session: Session, settings: Settings, name: str, console: Console) -> Attempt:
    """Return to an earlier revision, verified and safe as any apply."""
    live = _arrived(session, settings, name, console)
    if live.deployment.paused:
        console.warn(f"{live.object.ref} is paused: it is resumed for the undo")
    target = _revision(live, settings.to_revision)
    images = ", ".join(target.template.images())
    console.note("undo", f"{live.object.ref} goes to revision {target.revision} ({images})")
    body = _with_template(live.object, target)
    reader = Reader(session.client, session.resources, session.clock)
    scalers = reader.autoscalers(session.namespace)
    autoscaled = isinstance(scalers, Known) and any(
        scaler.target == live.object.ref for scaler in scalers.value
    )
    item = prepare(
        live.object.ref,
        body,
        Known(live.object),
        take_over=settings.take_over,
        autoscaled=autoscaled,
        force=settings.force_conflicts,
    )
    rehearse_on_server(session, (item,), console.warn)
    writes = item.writes()
    if live.deployment.paused:
        writes = (*writes, resumption(live.object.ref))
    return _followed(session, settings, console, live, writes, "undo")


def restart(session: Session, settings: Settings, name: str, console: Console) -> Attempt:
    """Start a rollout of the same version, as `kubectl rollout restart` does."""
    live = _arrived(session, settings, name, console)
    refuse_paused([live.object])
    ref = live.object.ref
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    annotated = {"metadata": {"annotations": {RESTARTED_AT: at}}}
    body = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {"template": annotated},
    }
    write = PlannedWrite(ref, Verb.APPLY, Body.of(body), RESTART_MANAGER, force=True)
    return _followed(session, settings, console, live, (write,), "restart")


def resume(session: Session, settings: Settings, name: str, console: Console) -> Attempt:
    """Let a paused Deployment go on, and follow what that starts."""
    live = _arrived(session, settings, name, console)
    return _followed(session, settings, console, live, (resumption(live.object.ref),), "resume")


def pause(session: Session, settings: Settings, name: str, console: Console) -> Attempt:
    """Pause a Deployment; there is nothing to follow then."""
    live = _arrived(session, settings, name, console)
    write = PlannedWrite(live.object.ref, Verb.MERGE, Body.of({"spec": {"paused": True}}))
    planned = PlannedObject(live.object.ref, Known(live.object))
    plan = Plan("pause", (), (planned,), (write,), policy(settings))
    return run(session, plan, Watching(session, {}), console)


def _arrived(session: Session, settings: Settings, name: str, console: Console) -> Live:
    """Say where we are, make sure that we may, read what is there."""
    arrival.announce(session, console)
    arrival.check_cluster(session, settings, console, [session.namespace])
    live = read_live(session, name)
    arrival.check_access(session, needed(session.resources, [live.object.ref], creates=()))
    if not settings.allow_managed:
        refuse_managed([live.object])
    return live


def _followed(
    session: Session,
    settings: Settings,
    console: Console,
    live: Live,
    writes: tuple[PlannedWrite, ...],
    command: str,
) -> Attempt:
    ref = live.object.ref
    watching = Watching(session, {ref: live.selector})
    watching.start()
    watching.settle(settings.connect_timeout)
    planned = PlannedObject(ref, Known(live.object))
    plan = Plan(command, (watching.target(ref),), (planned,), writes, policy(settings))
    return run(session, plan, watching, console)


def _revision(live: Live, number: int | None) -> ReplicaSet:
    """Return the revision to go to: the one asked for, else the newest before what runs."""
    if number is not None:
        found = live.revision(number)
        if found is None:
            known = ", ".join(str(rs.revision) for rs in live.snapshot.owned() if rs.revision)
            raise UsageError(f"there is no revision {number}", hint=f"there are: {known}")
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
            hint=f"rollout-gate history {live.object.ref.name} shows what there is",
        )
    return max(older, key=lambda rs: rs.revision or 0)


def _with_template(live: LiveObject, target: ReplicaSet) -> dict[str, Any]:
    """Return what the gate applies now, with the template of another revision.

    An apply of the template alone would reset replicas and deadline to their defaults.
    """
    managed = live.managed.thaw()["managedFields"]
    taken = ownership.take_over(managed) or managed
    body = ownership.restoration(live.body.thaw(), taken, taken, forced=False)
    if ownership.owned_fields(taken, FIELD_MANAGER) is None:
        body = {key: body[key] for key in ("apiVersion", "kind", "metadata")}
    return {**body, "spec": {**body.get("spec", {}), "template": target.template.body.thaw()}}


COMMANDS = {"undo": undo, "restart": restart, "resume": resume, "pause": pause}
"""By the name that a person calls them."""
