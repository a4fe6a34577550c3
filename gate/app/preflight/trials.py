"""What the server would make of each object: dry runs, before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from gate.app.preflight.guards import conflict_refusal
from gate.app.preflight.rejections import rejection
from gate.app.preflight.server_dry_run import Prepared
from gate.app.runtime.console import Warn
from gate.app.runtime.session import Session
from gate.core.kinds.registry import kind_of
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.naming import Naming, naming
from gate.core.model.objects import Ref
from gate.core.plan.replica_ownership import REPLICAS_PATH
from gate.core.plan.rollback_plan import content
from gate.core.protocol.effects import Write
from gate.core.readiness.object_needs import defines, is_definition
from gate.core.ssa import unions
from gate.errors import RefusedError
from gate.kube.answers.failures import FieldConflict, FieldManagerConflict, NotFound
from gate.kube.writes.writes import Writer
from gate.side_by_side import each

Trials = Mapping[Ref, LiveObject]
"""What the server would make of each object; an object that could not be tried is missing."""

NO_DRY_RUN = "does not support dry run"
"""The API server's words about a webhook with side effects, in a 400 response."""

_TRIED = "-tried"
"""Follows the name under which the successor of an object is tried that is still there."""
_MOST_NAME_CHARACTERS = 63 - len(_TRIED)


def rehearse_on_server(
    session: Session, items: Collection[Prepared], warn: Warn, made_here: Collection[str] = ()
) -> Trials:
    """Dry-run every apply on the server, and return what it would make of each object.

    Raises the refusal of the first object that it rejects. Warns of what cannot be tried: objects
    in a namespace that the manifest itself creates, and those whose webhooks support no dry run.
    """
    writer = Writer(session.client, session.resources, session.clock)
    items = tuple(items)
    name = naming(item.ref for item in items)
    results = each(session.clock, lambda item: _try_dry_run(writer, item, name), items)
    trials = {
        item.ref: result
        for item, result in zip(items, results, strict=True)
        if isinstance(result, LiveObject)
    }
    for item, result in zip(items, results, strict=True):
        if isinstance(result, RefusedError):
            why = _why_not_tried(session, item, result, made_here)
            why = why or _why_inconclusive(item, result, items, trials)
            if not why:
                raise rejection(item, result, session.connection.cluster, name) from None
            warn(f"{name(item.ref)} was not tried: {why}")
    return trials


def _try_dry_run(writer: Writer, item: Prepared, name: Naming) -> LiveObject | RefusedError:
    """Return what the server would make of an object, or its refusal."""
    try:
        return _dry_run(writer, item, name)
    except RefusedError as error:
        return error


def _why_not_tried(
    session: Session, item: Prepared, error: RefusedError, made_here: Collection[str]
) -> str:
    """Return why a refusal says nothing about an object, "" if it does."""
    if isinstance(error, NotFound):
        if item.ref.namespace in made_here:
            return "its namespace does not exist yet"
        if session.resources.is_defined(item.ref):
            return "its kind is served only once its definition is written"
    return error.message if NO_DRY_RUN in error.message else ""


def _why_inconclusive(
    item: Prepared, error: RefusedError, items: Collection[Prepared], trials: Trials
) -> str:
    """Return why a refused custom resource may be right, "" if it is not.

    A dry run goes by the definition that is served now, which this apply may change.
    """
    for other in items:
        trial = trials.get(other.ref)
        if trial is None or not is_definition(other.ref) or not defines(other.body, item.ref):
            continue
        if other.live is not None and content(other.live.body) != content(trial.body):
            return f"the definition that this apply changes refuses it: {error.message}"
    return ""


def _dry_run(writer: Writer, item: Prepared, name: Naming) -> LiveObject:
    """Try without force first: only a conflict says whose fields would be taken."""
    try:
        trial = _with_name(item.ref, writer.dry_run(_trial(item, force=item.force)))
        return _complete_trial(item, trial)
    except FieldManagerConflict as error:
        foreign = [one for one in error.conflicts if not _is_settled(item, one)]
        if foreign:
            raise conflict_refusal(item, foreign, name) from error
        return _complete_trial(item, writer.dry_run(_trial(item, force=True)))


def _with_name(ref: Ref, trial: LiveObject) -> LiveObject:
    """Return what was tried under a name of its own as what it is to be called."""
    if trial.ref == ref:
        return trial
    body, workload = trial.body.thaw(), trial.workload
    body["metadata"]["name"] = ref.name
    workload = replace(workload, ref=ref) if workload is not None else None
    return replace(trial, ref=ref, body=Body.of(body), workload=workload)


def _complete_trial(item: Prepared, trial: LiveObject) -> LiveObject:
    """Return what the server will make of an object, adding the unions that were not tried.

    A dry run cannot change ownership first, and would refuse what the claims make possible.
    """
    if item.claims is None:
        return trial
    body = unions.with_unions(trial.body.thaw(), item.body)
    workload = trial.workload
    if workload is not None:
        workload = kind_of(trial.ref).without_rolling_update(workload)
    return replace(trial, body=Body.of(body), workload=workload)


def managers_taken_over(item: Prepared) -> set[str]:
    """Return the managers whose entries the take-over removes."""
    if item.live is None or item.taken is None:
        return set()
    before = {str(entry.get("manager")) for entry in item.live.thaw_managed_fields()}
    return before - {str(entry.get("manager")) for entry in item.taken}


def _is_settled(item: Prepared, conflict: FieldConflict) -> bool:
    """Tell whether the take-over, or `--replicas apply`, settles a conflict before the apply."""
    if item.imposes_replicas and conflict.path == REPLICAS_PATH:
        return True
    return not conflict.subresource and item.takes_over(conflict.manager)


def _trial(item: Prepared, *, force: bool) -> Write:
    uid = item.updated.uid if item.updated is not None else None
    body, ref = item.sent_body(), item.ref
    if item.claims is not None:
        body = unions.without_unions(body)
    if item.replaces:
        ref = replace(ref, name=f"{ref.name[:_MOST_NAME_CHARACTERS]}{_TRIED}")
        body = {**body, "metadata": {**body["metadata"], "name": ref.name}}
    return Write(0, ref, Verb.APPLY, Body.of(body), uid, None, force=force)
