"""`undo`: returns to an earlier version, with the configuration that it was verified with."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from gate.app.commands import undo_refusal
from gate.app.commands.undo_return import check_return
from gate.app.commands.undo_revision import named_revision, with_number_of_now
from gate.app.commands.undo_subject import UndoSubject, read_subject
from gate.app.execution.run import Ready
from gate.app.locks.command_locks import wished_permissions
from gate.app.locks.memory import Claim, Memory
from gate.app.preflight import (
    first_questions,
    memory_warnings,
    return_target,
)
from gate.app.preflight import (
    plan as preflight,
)
from gate.app.preflight.guards import refuse_deleting, refuse_managed, refuse_protected_plan
from gate.app.preflight.server_dry_run import Prepared, prepare
from gate.app.preflight.target_age import within_age
from gate.app.preflight.way_back_dry_run import with_way_back
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import read_live, selector_of
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.app.runtime.workload_names import workload_ref
from gate.config import Settings, policy
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body
from gate.core.model.configuration_references import configuration_names
from gate.core.model.environment_values import with_values
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref, Revision, Template
from gate.core.model.outcome import Reason
from gate.core.ssa.applied_fields import applied_body
from gate.core.ssa.template_body import body_with_template, without_pause
from gate.core.versions.history import History
from gate.core.versions.judged_version import (
    JudgedVersion,
    is_restarted,
    template_digest,
)
from gate.core.versions.shared_members import shared_members, with_shared_members
from gate.core.versions.undo_choice import (
    Choice,
    choice_name,
    choose_version,
    revision_name,
    rolled_back_from,
    version_of,
)
from gate.core.versions.undo_conflicts import restarters
from gate.core.versions.undo_set import attempts_on, changed_members, is_applied_by, lacking
from gate.errors import RefusedError
from gate.kube.access import list_needed
from gate.manifests.kinds.registry import find


def locks_of_sets(name: str, memory: Memory, namespace: str) -> list[Lock]:
    """Return the locks of all Deployments that an undo of `name` may write."""
    ref = workload_ref(namespace, name)
    members = {ref, *_deployments(memory.history(ref))}
    return [lock_of(member) for member in members]


def _deployments(history: History) -> set[Ref]:
    return {ref for one in history.once_verified for ref in one.members if is_workload(ref)}


def undo(
    session: Session,
    settings: Settings,
    name: str,
    console: Console,
    claim: Claim,
    *,
    named: Revision | None = None,
) -> Ready:
    """Prepare to return to an earlier version, or to what `--to-revision` named at the start."""
    found = with_number_of_now(read_subject(session, settings, name, console, claim.memory), named)
    choice = _choice(found)
    for line in choice.skipped:
        console.note("undo", f"skipped {line}")
    _warn_of_rollback(found, choice)
    items = _items(found, choice)
    refs = [item.ref for item in items]
    new = [item.ref for item in items if item.live is None]
    needs = list_needed(session.resources, refs, creates=new)
    secrets = {ref.namespace for ref in refs if ref.kind == "Secret"}
    wished = wished_permissions(settings, {ref.namespace for ref in refs}, secrets)
    first_questions.check_access(session, name, needs, wished)
    deployments = [item.live for item in items if item.is_workload and item.live is not None]
    there = [item.live for item in items if item.live is not None]
    refuse_deleting(there, session.connection.cluster)
    if not settings.allow_managed:
        refuse_managed(deployments, session.connection.cluster)
    trials = preflight.rehearse_on_server(session, items, console.warn)
    for live in deployments:
        if live.workload is not None and live.workload.paused:
            console.warn(f"{live.ref} was paused: the undo resumes it")
    for item in items:
        if item.ref == found.ref:
            shown = choice_name(choice, found.live.snapshot)
            check_return(item, trials.get(item.ref), choice, shown, console.warn, found.command)
    preflight.warn_of_configuration_alone(items, trials, console.warn)
    watching = Watching(session, {live.ref: selector_of(live) for live in deployments})
    watching.start()
    watching.settle(settings.connect_timeout)
    targets = tuple(watching.target(live.ref) for live in deployments)
    plan = preflight.plan_of("undo", policy(settings), items, trials, targets, refs)
    plan = return_target.with_target_set(session, plan, claim.memory)
    refuse_protected_plan(plan, settings.protected_namespace)
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), console.caution)
    plan = with_way_back(session, plan, allowed=settings.allow_irreversible, warn=console.warn)
    return_target.describe(plan, console.note, console.caution)
    if claim.lock_lane is not None:
        memory_warnings.warn_of_what_is_not_kept(session, plan, console.caution)
        if settings.keep_verified_secrets:
            memory_warnings.warn_of_what_will_not_be_kept(session, plan, console.warn)
    return Ready(session, plan, watching, claim.lock_lane)


def _warn_of_rollback(found: UndoSubject, choice: Choice) -> None:
    """Warn if a rollback has already left the version that somebody may mean to undo."""
    failed = rolled_back_from(found.live.snapshot, found.history)
    if failed is None or failed.why is None or found.settings.to_revision is not None:
        return
    what = ", ".join(failed.images)
    current = found.live.snapshot.current()
    if failed.template == template_digest(found.live.workload.template):
        what = f"a restart of {what}"
    runs = revision_name(current) if current is not None else "it"
    to = choice_name(choice, found.live.snapshot)
    found.console.warn(
        f"{found.ref} was rolled back already, from {what} at {failed.judged_at}"
        f" ({failed.why.reason}): this undo leaves {runs}, which runs since,"
        f" for {to}"
    )


# -- what it returns to ----------------------------------------------------------------------------


def _choice(found: UndoSubject) -> Choice:
    replica_set = named_revision(found.settings, found.live)
    if replica_set is not None:
        choice = Choice(version_of(replica_set, found.history), replica_set)
    else:
        gone = [ref for ref, fact in found.lives.items() if isinstance(fact, Absent)]
        choice = choose_version(found.live.snapshot, found.history, found.digests(), gone)
    if choice.version is None and choice.replica_set is None:
        raise undo_refusal.nothing_left(found, choice)
    return choice


# -- what is written -------------------------------------------------------------------------------


def _items(found: UndoSubject, choice: Choice) -> tuple[Prepared, ...]:
    """Return what to apply, configuration first."""
    version, replica_set = choice.version, choice.replica_set
    if version is not None and not found.settings.deployment_only:
        return _of_set(found, choice, version)
    template = replica_set.template if replica_set is not None else None
    body = _body_of_template(found, version, template)
    shown = _name(found, Choice(None, replica_set) if replica_set is not None else choice)
    found.console.note("undo", f"{found.ref} goes to {shown}, its pod template alone")
    judged = found.history.of_template(template) if template is not None else None
    if judged is not None and judged.why is not None:
        did = "failed" if judged.failed else "was left unverified"
        found.console.warn(f"{shown} {did} at {judged.judged_at}: {judged.why.reason}")
    elif version is None and judged is None:
        found.console.warn(f"no verification of {shown} is remembered")
    names = configuration_names(template or found.live.workload.template)
    if names:
        found.console.warn(f"its configuration is left as it is now: {', '.join(names)}")
    return (_prepare_object(found, found.ref, body),)


def _name(found: UndoSubject, choice: Choice) -> str:
    return choice_name(choice, found.live.snapshot)


def _of_set(found: UndoSubject, choice: Choice, version: JudgedVersion) -> tuple[Prepared, ...]:
    """Return the objects of a verified set that differ from what was verified.

    The Deployment is always among them if our manager applies it, since it is followed.
    """
    digests, replica_set = found.digests(), choice.replica_set
    deployments = {found.ref, *_deployments(found.history)}
    histories = {ref: found.memory.history(ref) for ref in deployments}
    attempts = attempts_on(found.ref, histories)
    changed = changed_members(attempts, version, found.ref, digests)
    shared = shared_members(version, found.ref, histories, digests, changed)
    version = with_shared_members(version, shared)
    changed = changed_members(attempts, version, found.ref, digests)
    bodies = _bodies(found, version, changed)
    runs = template_digest(found.live.workload.template)
    is_restart_left = bodies.get(found.ref) is not None and _is_restarted(replica_set)
    if replica_set is not None and bodies.get(found.ref) is None and runs != version.template:
        bodies[found.ref] = Body.of(_with_template(found, replica_set.template))
    known = {ref: body is not None for ref, body in bodies.items()}
    needed_as_is = {one.ref for one in shared if one.is_live}
    missing = lacking(
        found.ref,
        known,
        lambda ref: ref not in needed_as_is and is_applied_by(attempts, ref, digests),
        found.lives,
    )
    if missing.refs:
        raise undo_refusal.not_whole(found, choice, version, missing)
    _describe(found, choice, version, bodies, is_restart_left=is_restart_left)
    for one in shared:
        found.console.note("undo", f"{one.ref} goes to what {one.deployment} was verified with")
    ordered = sorted(bodies, key=_rank)
    items = [
        _prepare_object(found, ref, body.thaw())
        for ref in ordered
        if (body := bodies[ref]) is not None
    ]
    return (*items, *([] if found.ref in bodies else _iter_unchanged(found)))


def _iter_unchanged(found: UndoSubject) -> Iterator[Prepared]:
    """Yield the Deployment as our manager applies it now, if it applies anything.

    A restart's annotation is not taken over: it would become part of what is applied.
    """
    body = applied_body(found.live.object)
    if body is not None:
        unpaused = without_pause(body.thaw())
        item = prepare(found.ref, unpaused, Known(found.live.object), autoscaled=True)
        yield replace(item, is_return=True)


def _is_restarted(replica_set: Revision | None) -> bool:
    return replica_set is not None and is_restarted(replica_set.template)


def _describe(
    found: UndoSubject,
    choice: Choice,
    version: JudgedVersion,
    bodies: Collection[Ref],
    *,
    is_restart_left: bool,
) -> None:
    """Announce what an undo returns to, and which other objects go with it."""
    note, shown = found.console.note, _name(found, choice)
    if not bodies:
        replica_set = choice.replica_set
        there = revision_name(replica_set) if replica_set is not None else shown
        note("undo", f"{found.ref} is at {there} already, verified at {version.judged_at}")
        return
    without = " without its restart, so its pods are made anew," if is_restart_left else ""
    note("undo", f"{found.ref} goes to {shown},{without} verified at {version.judged_at}")
    others = [str(ref) for ref in bodies if ref != found.ref]
    if others:
        note("undo", f"with it goes back: {', '.join(others)}")


def _rank(ref: Ref) -> tuple[int, Ref]:
    """Return the sort key of an object: the order of an apply, custom kinds before workloads."""
    group = ref.api_version.rpartition("/")[0]
    kind = find(group, ref.kind)
    return (int(kind.rank) if kind is not None else 0, ref)


def _bodies(
    found: UndoSubject, version: JudgedVersion, refs: Collection[Ref]
) -> dict[Ref, Body | None]:
    """Return what was applied of each member, None if that is not known.

    The Secret beside a lock is read only if it has what the history lacks.
    """
    bodies = {ref: _recall_body(found, version, ref) for ref in refs}
    for deployment in (found.ref, *sorted(_deployments(found.history) - {found.ref})):
        kept = {version.members[ref] for ref, body in bodies.items() if body is None}
        kept &= set(found.memory.history(deployment).kept)
        if kept:
            whole = found.memory.kept_bodies(deployment, kept)
            lost = [ref for ref, body in bodies.items() if body is None]
            bodies.update({ref: whole.get(version.members[ref]) for ref in lost})
    return bodies


def _recall_body(found: UndoSubject, version: JudgedVersion, ref: Ref) -> Body | None:
    """Return what was applied of a member, None if unknown.

    The environment values of a Deployment come from its ReplicaSet.
    """
    digest = version.members[ref]
    deployments = (found.ref, *sorted(_deployments(found.history)))
    bodies = (found.memory.history(one).bodies.get(digest) for one in deployments)
    body = next((one for one in bodies if one is not None), None)
    if body is None:
        return None
    complete = with_values(body, None)
    if complete is not None or not is_workload(ref):
        return complete
    beside = replace(found.session, namespace=ref.namespace)
    live = found.live if ref == found.ref else read_live(beside, ref.name)
    judged = found.memory.history(ref).of_member(ref, digest)
    made = judged.replica_set_in(live.snapshot.list_owned()) if judged is not None else None
    return with_values(body, made.template if made is not None else None)


def _prepare_object(found: UndoSubject, ref: Ref, body: dict[str, Any]) -> Prepared:
    """Return what to send for an object; the live number of replicas is kept."""
    fact = found.lives.get(ref, Absent())
    left_out = restarters(fact.value) if isinstance(fact, Known) else ()
    item = prepare(
        ref,
        body,
        fact,
        take_over=(*found.settings.take_over, *left_out),
        autoscaled=_is_scaled(fact),
        force=found.settings.force_conflicts,
    )
    return replace(item, is_return=True)


def _is_scaled(fact: Fact[LiveObject]) -> bool:
    return isinstance(fact, Known) and "replicas" in (fact.value.body.thaw().get("spec") or {})


def _body_of_template(
    found: UndoSubject, version: JudgedVersion | None, template: Template | None
) -> dict[str, Any]:
    if template is not None:
        return _with_template(found, template)
    bodies = _bodies(found, version, [found.ref]) if version is not None else {}
    body = bodies.get(found.ref)
    if body is None:
        raise RefusedError(
            f"the ReplicaSet of that version of {found.ref} is gone, and its template with it",
            reason=Reason.NO_BASELINE,
            hint=f"see what there is: {found.command('history')}",
        )
    return body.thaw()


def _with_template(found: UndoSubject, template: Template) -> dict[str, Any]:
    """Return what the gate applies now, but with the pod template of another revision."""
    live = found.live.object
    return body_with_template(live, template, _take_over(found, live))


def _take_over(found: UndoSubject, live: LiveObject) -> Collection[str]:
    return (*found.settings.take_over, *restarters(live))
