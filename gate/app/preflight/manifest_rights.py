"""The permissions that an attempt with a manifest may need, its rollback included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.app.command_context import CommandContext
from gate.app.locks import verified_bodies
from gate.app.locks.command_locks import wished_permissions
from gate.app.preflight import first_questions
from gate.app.preflight.manifest_guard import with_namespaces
from gate.app.preflight.plan import Surroundings, read_surroundings
from gate.app.preflight.replicas import scaler_permissions
from gate.app.preflight.runs import replaceable
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of
from gate.config import Settings
from gate.core.kinds.registry import locks_of
from gate.core.model.fact import Absent, Known
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.readiness.object_needs import why_kept
from gate.core.rollout.policy import BlockedPods, OnFirstFailure
from gate.kube.answers.failures import Forbidden
from gate.kube.kinds.registry import find_workload
from gate.kube.paths.resources import LEASES
from gate.kube.rights.access import Permission, granting, list_needed, looking_around, removing
from gate.manifests.manifest import Manifest


def role(context: CommandContext, manifest: Manifest) -> str:
    """Return the Role that an attempt with this manifest may need, its rollback included."""
    session, settings = context.session, context.settings
    placed = with_namespaces(session, settings, manifest)
    wanted = {*_needs(session, settings, placed), *_iter_wished_permissions(settings, placed)}
    wanted.update(granting((item.ref, item.body) for item in placed.objects))
    return first_questions.printed_role(context, _about(manifest), wanted)


def read_with_rights(context: CommandContext, manifest: Manifest) -> Surroundings:
    """Read what is there; RefusedError that names all missing permissions at once."""
    session, settings = context.session, context.settings
    wished = _iter_wished_permissions(settings, manifest)
    try:
        found = read_surroundings(session, manifest, context.console.warn)
    except Forbidden:
        needs = _needs(session, settings, manifest)
        first_questions.check_access(session, _about(manifest), needs, wished)
        raise
    new = {ref for ref, fact in found.lives.items() if isinstance(fact, Absent)}
    refs = [item.ref for item in manifest.objects]
    deletes = {*(_list_deletable(new) if _may_delete(settings) else ()), *replaceable(manifest)}
    removes = settings.replace_blocked_pods
    needs = list_needed(session.resources, refs, creates=new, deletes=deletes, removes=removes)
    of_pods = _wished_for_old_pods(found, removes)
    first_questions.check_access(session, _about(manifest), needs, (*wished, *of_pods))
    return found


def _wished_for_old_pods(found: Surroundings, removes: BlockedPods) -> Iterator[Permission]:
    """Yield what replaces pods that a controller would leave after a way back."""
    for ref, fact in found.lives.items():
        live = fact.value.workload if isinstance(fact, Known) else None
        if live is not None and live.leaves_old_pods:
            yield from removing(ref.namespace, removes)


def _about(manifest: Manifest) -> str:
    """Return a name for the manifest: that of its first workload, else of its first object.

    It is the same at each run: of a generated name, what that begins with.
    """
    named = (*manifest.workloads, *manifest.objects)
    return argument_of(named[0].lasting_ref) if named else "nothing"


def _needs(session: Session, settings: Settings, manifest: Manifest) -> tuple[Permission, ...]:
    """Return the permissions for a manifest while it is unknown which objects exist."""
    refs = [item.ref for item in manifest.objects]
    deletes = {*(_list_deletable(refs) if _may_delete(settings) else ()), *replaceable(manifest)}
    removes = settings.replace_blocked_pods
    return list_needed(session.resources, refs, creates=None, deletes=deletes, removes=removes)


def _list_deletable(refs: Iterable[Ref]) -> tuple[Ref, ...]:
    """Return those of `refs` that a way back may delete at all."""
    return tuple(ref for ref in refs if not why_kept(ref))


def _may_delete(settings: Settings) -> bool:
    return settings.prune_created or settings.on_first_failure == OnFirstFailure.DELETE


def _iter_wished_permissions(settings: Settings, manifest: Manifest) -> Iterator[Permission]:
    """Yield permissions whose lack is only a warning: for scalers, nodes, locks, kept Secrets."""
    yield from scaler_permissions([item.ref for item in manifest.workloads])
    kinds = (find_workload(item.ref) for item in manifest.objects)
    yield from looking_around(kind for kind in kinds if kind is not None)
    yield from _wished_for_locks(settings, manifest)
    if settings.keep_verified_secrets:
        refs = [item.ref for item in manifest.workloads]
        yield from verified_bodies.permissions(lock_of(ref) for ref in refs)


def _wished_for_locks(settings: Settings, manifest: Manifest) -> Iterator[Permission]:
    """Yield permissions for lock and record; `locks`, and `recover` without a name, list Leases."""
    refs = [item.ref for item in manifest.objects]
    namespaces = {lock.namespace for lock in locks_of(refs, "")} - {""}
    secrets = {ref.namespace for ref in refs if ref.kind == "Secret"}
    yield from wished_permissions(settings, namespaces, namespaces if secrets else ())
    for namespace in namespaces if settings.lock else ():
        yield Permission(namespace, LEASES.group, LEASES.plural, "list")
