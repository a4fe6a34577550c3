"""What an undo applies: the objects of a verified set that differ from it, or a template alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from gate.app.commands import undo_refusal
from gate.app.commands.undo_subject import UndoSubject
from gate.app.preflight.server_dry_run import Prepared, prepare
from gate.app.runtime.live_state import read_live
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body
from gate.core.model.configuration_references import configuration_names
from gate.core.model.environment_values import names_images, with_values
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Revision, Template
from gate.core.model.outcome import Reason
from gate.core.plan.workload_body import body_with_template, without_pause
from gate.core.ssa.applied_fields import applied_body
from gate.core.versions.judged_version import JudgedVersion, is_restarted, template_digest
from gate.core.versions.shared_members import shared_members, with_shared_members
from gate.core.versions.undo_choice import Choice, choice_name, revision_name
from gate.core.versions.undo_conflicts import restarters
from gate.core.versions.undo_set import attempts_on, changed_members, is_applied_by, lacking
from gate.errors import RefusedError
from gate.manifests.kinds.registry import find


def prepare_items(found: UndoSubject, choice: Choice) -> tuple[Prepared, ...]:
    """Return what to apply, configuration first."""
    version, revision = choice.version, choice.revision
    if version is not None and not found.settings.deployment_only:
        return _of_set(found, choice, version)
    template = revision.template if revision is not None else None
    body = _body_of_template(found, version, template)
    shown = _name(found, Choice(None, revision) if revision is not None else choice)
    found.console.note("undo", f"{found.ref} goes to {shown}, only its pod template")
    judged = found.history.of_template(template) if template is not None else None
    if judged is not None and judged.why is not None:
        did = "failed" if judged.failed else "was left unverified"
        found.console.warn(f"{shown} {did} at {judged.judged_at}: {judged.why.reason}")
    elif version is None and judged is None:
        found.console.warn(f"no verification of {shown} is remembered")
    names = configuration_names(template or found.live.workload.template)
    if names:
        found.console.warn(f"its configuration stays as it is now: {', '.join(names)}")
    return (_prepare_object(found, found.ref, body),)


def _name(found: UndoSubject, choice: Choice) -> str:
    return choice_name(choice, found.live.snapshot)


def _of_set(found: UndoSubject, choice: Choice, version: JudgedVersion) -> tuple[Prepared, ...]:
    """Return the objects of a verified set that differ from what was verified.

    The workload is always among them if our manager applies it, since it is followed.
    """
    digests, revision = found.digests(), choice.revision
    attempts = attempts_on(found.ref, found.histories())
    changed = changed_members(attempts, version, found.ref, digests)
    found = found.with_neighbours([ref for ref in changed if not is_workload(ref)])
    run_now = {**digests, **found.neighbours.digests}
    shared = shared_members(version, found.ref, found.histories(), run_now, changed)
    version = with_shared_members(version, shared)
    changed = changed_members(attempts, version, found.ref, digests)
    bodies = _bodies(found, version, changed)
    runs = template_digest(found.live.workload.template)
    is_restart_left = bodies.get(found.ref) is not None and _is_restarted(revision)
    if revision is not None and bodies.get(found.ref) is None and runs != version.template:
        bodies[found.ref] = Body.of(_with_template(found, revision.template))
    known = {ref: body is not None for ref, body in bodies.items()}
    needed_as_is = {one.ref for one in shared if one.is_live}
    needed_as_is |= {ref for ref in bodies if found.find_attempt(ref) is not None}
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
        found.console.note("undo", f"{one.ref} goes to what {one.workload} was verified with")
    ordered = sorted(bodies, key=_rank)
    items = [
        _prepare_object(found, ref, body.thaw())
        for ref in ordered
        if (body := bodies[ref]) is not None
    ]
    return (*items, *([] if found.ref in bodies else _iter_unchanged(found)))


def _iter_unchanged(found: UndoSubject) -> Iterator[Prepared]:
    """Yield the workload as our manager applies it now, if it applies anything.

    A restart's annotation is not taken over: it would become part of what is applied.
    """
    body = applied_body(found.live.object)
    if body is not None:
        unpaused = without_pause(body.thaw())
        item = prepare(found.ref, unpaused, Known(found.live.object), autoscaled=True)
        yield replace(item, is_return=True)


def _is_restarted(revision: Revision | None) -> bool:
    return revision is not None and is_restarted(revision.template)


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
        revision = choice.revision
        there = revision_name(revision) if revision is not None else shown
        note("undo", f"{found.ref} is at {there} already, verified at {version.judged_at}")
        return
    without = " without its restart, so its pods are created again," if is_restart_left else ""
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
    for workload, history in found.histories().items():
        kept = {version.members[ref] for ref, body in bodies.items() if body is None}
        kept &= set(history.kept)
        if kept:
            whole = found.memory.kept_bodies(workload, kept)
            lost = [ref for ref, body in bodies.items() if body is None]
            bodies.update({ref: whole.get(version.members[ref]) for ref in lost})
    return bodies


def _recall_body(found: UndoSubject, version: JudgedVersion, ref: Ref) -> Body | None:
    """Return what was applied of a member, None if unknown.

    The environment values of a workload come from its revision, as does an image of others'.
    """
    digest = version.members[ref]
    bodies = (history.bodies.get(digest) for history in found.histories().values())
    body = next((one for one in bodies if one is not None), None)
    if body is None:
        return None
    complete = with_values(body, None)
    if not is_workload(ref) or (complete is not None and names_images(complete)):
        return complete
    beside = replace(found.session, namespace=ref.namespace)
    live = found.live if ref == found.ref else read_live(beside, ref.name)
    judged = found.memory.history(ref).of_member(ref, digest)
    made = judged.revision_in(live.snapshot.list_owned()) if judged is not None else None
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
            f"the revision of that version of {found.ref} is gone, and its pod template with it",
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
