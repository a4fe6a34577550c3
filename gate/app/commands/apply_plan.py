"""`apply`, `preflight` and `apply --dry-run`: one manifest, from its files to its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import BinaryIO, Final

from gate.app.execution.run import Ready
from gate.app.locks import verified_bodies
from gate.app.locks.command_locks import wished_permissions
from gate.app.locks.memory import Claim
from gate.app.preflight import (
    first_questions,
    memory_warnings,
    replicas,
    return_target,
)
from gate.app.preflight import (
    plan as preflight,
)
from gate.app.preflight.check_trial import try_checks
from gate.app.preflight.guards import refuse_protected_plan
from gate.app.preflight.rejections import with_places
from gate.app.preflight.target_age import within_age
from gate.app.preflight.way_back_dry_run import with_way_back
from gate.app.runtime.command_end import Passed
from gate.app.runtime.console import Console
from gate.app.runtime.masking import learn
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.config import Settings, policy
from gate.core.kinds.registry import locks_of
from gate.core.model.fact import Absent
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import lock_of
from gate.core.model.outcome import Reason
from gate.core.plan.foreseen_return import would_write
from gate.core.plan.plan import Plan
from gate.core.rollout.policy import OnFirstFailure
from gate.duration import format_seconds
from gate.errors import RefusedError
from gate.kube.access import Permission, granting, list_needed
from gate.kube.failures import Forbidden, NotFound
from gate.kube.resource import Resource
from gate.kube.resources import LEASES
from gate.manifests.allowed import require_allowed
from gate.manifests.body import value_at
from gate.manifests.images import with_images
from gate.manifests.kinds.registry import find
from gate.manifests.kinds.rules import LintCode
from gate.manifests.lint import lint
from gate.manifests.load import load
from gate.manifests.manifest import Manifest
from gate.manifests.namespaces import in_namespace
from gate.manifests.source import escape_line
from gate.report.words.object_names import some_names

_MOST_NAMED: Final = 6


def read_manifest(settings: Settings, stdin: BinaryIO) -> Manifest:
    """Read the manifest's files; UsageError for faults in them. Sends nothing."""
    manifest = load(settings.file, stdin=stdin)
    require_allowed(manifest, settings.allow_kind)
    return with_images(manifest, settings.image)


def arrive(session: Session, settings: Settings, manifest: Manifest, console: Console) -> Manifest:
    """Announce the cluster, refuse a wrong one; return the manifest with namespaces filled in."""
    learn(session.secrets, manifest)
    first_questions.announce(session, console, _namespaces(session, manifest))
    manifest = _with_namespaces(session, settings, manifest)
    console.take_places({i.ref: (i.source.file, i.source.line) for i in manifest.objects})
    if manifest.unread:
        folders = ", ".join(map(escape_line, manifest.unread))
        console.warn(f"subfolders are not read: {folders}; name each with -f")
    namespaces = {item.ref.namespace for item in manifest.objects}
    first_questions.check_cluster(session, settings, console, namespaces, _made_here(manifest))
    return manifest


def _namespaces(session: Session, manifest: Manifest) -> set[str]:
    """Return the objects' namespaces, as far as their kinds are known without the server."""
    return {
        item.namespace or session.namespace
        for item in manifest.objects
        if (kind := find(item.api_version.rpartition("/")[0], item.kind)) is None or kind.namespaced
    }


def _made_here(manifest: Manifest) -> set[str]:
    return {item.name for item in manifest.objects if item.kind == "Namespace"}


def prepare_attempt(
    session: Session,
    settings: Settings,
    manifest: Manifest,
    console: Console,
    tap: Callable[[bytes], None] | None,
    claim: Claim,
) -> Ready:
    """Check everything that can refuse the attempt, for a manifest returned by `arrive`.

    Writes nothing. `tap` gets the lines of the watches before they are decoded.
    """
    memory = claim.memory
    found = _surroundings(session, settings, manifest, console)
    _check_access(session, settings, manifest, found)
    items = preflight.prepare_objects(settings, manifest, found, memory)
    paused = memory_warnings.paused_by_us(items, memory)
    preflight.guard(session, settings, items, paused)
    watching = Watching(session, preflight.selectors(manifest, found), tap)
    watching.start()
    try:
        trials = preflight.rehearse_on_server(session, items, console.warn, _made_here(manifest))
    except RefusedError as error:
        raise with_places(error, manifest) from error
    preflight.guard_outcome(settings, items, trials, paused)
    watching.settle(settings.connect_timeout)
    limits = policy(settings)
    targets = tuple(watching.target(item.ref) for item in items if item.is_workload)
    resumed = {item.ref for item in items} if settings.resume else paused
    plan = preflight.plan_of("apply", limits, items, trials, targets, resumed)
    plan = return_target.with_target_set(session, plan, memory)
    refuse_protected_plan(plan, settings.protected_namespace)
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), console.caution)
    allowed = settings.allow_irreversible
    plan = with_way_back(session, plan, allowed=allowed, warn=console.warn)
    _tell(plan, manifest, console)
    for item in items:
        if item.ref in paused and item.live is not None and _is_paused(item.live):
            note = "an earlier run paused it (--on-failure pause); this apply resumes it"
            console.note("resume", f"{plan.name_of(item.ref)}: {note}")
    memory_warnings.warn_of_failures(items, trials, memory, console.warn)
    if claim.lock_lane is not None:
        memory_warnings.warn_of_what_is_not_kept(session, plan, console.caution)
    if settings.keep_verified_secrets:
        memory_warnings.warn_of_what_will_not_be_kept(session, plan, console.warn)
    replicas.warn_of_replicas(items, console.warn)
    preflight.warn_of_configuration_alone(items, trials, console.warn)
    if LintCode.TIMEOUT_BEFORE_DEADLINE not in settings.silence:
        preflight.warn_of_short_timeout(limits.timeout_seconds, items, trials, console.warn)
    for finding in lint(manifest, timeout_seconds=settings.timeout, silent=settings.silence):
        console.warn(finding.line(plan.name_of(finding.object.ref)))
    try_checks(session, settings, plan.targets, console)
    return Ready(session, plan, watching, claim.lock_lane)


def end_dry_run(plan: Plan, said: str) -> Passed:
    """Return the end of a run that should write nothing; its message begins with `said`."""
    parts = []
    for intent, refs in would_write(plan).items():
        names = some_names([plan.name_of(ref) for ref in refs], _MOST_NAMED)
        parts.append(f"{intent.value} {names}")
    if not parts:
        return Passed(f"{said}; an apply would change nothing", Reason.NO_CHANGE)
    return Passed(f"{said}; an apply would {', and '.join(parts)}", Reason.DRY_RUN)


def _is_paused(live: LiveObject) -> bool:
    return live.workload is not None and live.workload.paused


def role(session: Session, settings: Settings, manifest: Manifest) -> str:
    """Return the Role that an attempt with this manifest may need, its rollback included."""
    placed = _with_namespaces(session, settings, manifest)
    wanted = {*_needs(session, settings, placed), *_iter_wished_permissions(settings, placed)}
    wanted.update(granting((item.ref, item.body) for item in placed.objects))
    return first_questions.printed_role(session, settings, _about(manifest), wanted)


def _about(manifest: Manifest) -> str:
    """Return a name for the manifest: that of its first Deployment, else of its first object."""
    named = (*manifest.deployments, *manifest.objects)
    return named[0].name if named else "nothing"


def _needs(session: Session, settings: Settings, manifest: Manifest) -> tuple[Permission, ...]:
    """Return the permissions for a manifest while it is unknown which objects exist."""
    refs = [item.ref for item in manifest.objects]
    deletes = refs if _may_delete(settings) else ()
    return list_needed(session.resources, refs, creates=None, deletes=deletes)


def _may_delete(settings: Settings) -> bool:
    return settings.prune_created or settings.on_first_failure == OnFirstFailure.DELETE


def _iter_wished_permissions(settings: Settings, manifest: Manifest) -> Iterable[Permission]:
    """Yield permissions whose lack is only a warning: for autoscalers, locks and kept Secrets."""
    for namespace in {item.ref.namespace for item in manifest.deployments}:
        yield Permission(namespace, "autoscaling", "horizontalpodautoscalers", "list")
        yield Permission(namespace, "keda.sh", "scaledobjects", "list")
    yield from _wished_for_locks(settings, manifest)
    if settings.keep_verified_secrets:
        refs = [item.ref for item in manifest.deployments]
        yield from verified_bodies.permissions(lock_of(ref) for ref in refs)


def _wished_for_locks(settings: Settings, manifest: Manifest) -> Iterable[Permission]:
    """Yield permissions for lock and record; `locks`, and `recover` without a name, list Leases."""
    refs = [item.ref for item in manifest.objects]
    namespaces = {lock.namespace for lock in locks_of(refs, "")} - {""}
    secrets = {ref.namespace for ref in refs if ref.kind == "Secret"}
    yield from wished_permissions(settings, namespaces, namespaces if secrets else ())
    for namespace in namespaces if settings.lock else ():
        yield Permission(namespace, LEASES.group, LEASES.plural, "list")


def _with_namespaces(session: Session, settings: Settings, manifest: Manifest) -> Manifest:
    """Fill in the namespaces; for custom kinds the server says whether they are namespaced."""
    custom = {(item.api_version, item.kind) for item in manifest.objects if not item.known_kind}
    served = [_find_resource(session, manifest, *kind) for kind in sorted(custom)]
    return in_namespace(
        manifest,
        session.namespace,
        enforced=settings.namespace is not None,
        cluster_scoped={(kind.group, kind.kind) for kind in served if not kind.namespaced},
    )


def _find_resource(session: Session, manifest: Manifest, api_version: str, kind: str) -> Resource:
    try:
        return session.resources.of(api_version, kind)
    except NotFound as error:
        defined = {value_at(item.body, "spec", "names", "kind") for item in manifest.objects}
        if kind not in defined:
            raise
        hint = f"the manifest defines {kind} itself: apply its definition first, on its own"
        raise NotFound(error.message, hint=hint) from error


def _surroundings(
    session: Session, settings: Settings, manifest: Manifest, console: Console
) -> preflight.Surroundings:
    """Read what is there; if even that is forbidden, name all missing permissions at once."""
    try:
        return preflight.surroundings(session, manifest, console.warn)
    except Forbidden:
        needs, wished = (
            _needs(session, settings, manifest),
            _iter_wished_permissions(settings, manifest),
        )
        first_questions.check_access(session, _about(manifest), needs, wished)
        raise


def _check_access(
    session: Session,
    settings: Settings,
    manifest: Manifest,
    found: preflight.Surroundings,
) -> None:
    new = {ref for ref, fact in found.lives.items() if isinstance(fact, Absent)}
    refs = [item.ref for item in manifest.objects]
    deletes = new if _may_delete(settings) else ()
    needs = list_needed(session.resources, refs, creates=new, deletes=deletes)
    first_questions.check_access(
        session, _about(manifest), needs, _iter_wished_permissions(settings, manifest)
    )


def _tell(plan: Plan, manifest: Manifest, console: Console) -> None:
    """Announce what a failure would return to, what is not judged, and the timeout."""
    return_target.describe(plan, console.note, console.caution)
    unjudged = [plan.name_of(item.ref) for item in manifest.objects if not item.judged]
    if unjudged:
        console.note("objects", f"applied, not judged: {', '.join(unjudged)}")
    for skipped in manifest.skipped:
        console.note("objects", f"skipped: {skipped.object}: {skipped.why}")
    if plan.policy.timeout_seconds is not None:
        console.note("budget", f"timeout {format_seconds(plan.policy.timeout_seconds)}")
