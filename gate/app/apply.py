"""`apply`, `preflight` and `apply --dry-run`: one manifest, from its files to its verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from gate.app import arrival, preflight
from gate.app.console import Console
from gate.app.recording import Tape
from gate.app.running import run
from gate.app.session import Session, open_session
from gate.app.watching import Watching
from gate.clock import SystemClock
from gate.config import Settings, policy
from gate.core.attempt import Attempt
from gate.core.fact import Absent, Known
from gate.core.plan import Plan
from gate.core.policy import OnFirstFailure, Policy
from gate.duration import format_seconds
from gate.kube.access import Access, Permission, needed, role_yaml
from gate.kube.failures import Forbidden
from gate.manifests.allowed import require_allowed
from gate.manifests.images import with_images
from gate.manifests.lint import lint
from gate.manifests.load import load
from gate.manifests.manifest import Manifest
from gate.manifests.namespaces import in_namespace


@dataclass(frozen=True, slots=True)
class Ready:
    """An attempt that nothing has refused: its plan, and the watches that already run."""

    plan: Plan
    watching: Watching


def read_manifest(settings: Settings) -> Manifest:
    """Read the files; UsageError for whatever is wrong with them. Nothing is sent."""
    manifest = load(settings.file, stdin=sys.stdin.buffer)
    require_allowed(manifest, settings.allow_kind)
    return with_images(manifest, settings.image)


def prepare_attempt(
    session: Session,
    settings: Settings,
    manifest: Manifest,
    console: Console,
    tap: Callable[[bytes], None] | None = None,
) -> Ready:
    """Ask everything that can refuse the attempt; nothing is written.

    `tap` gets the lines of the watches before they are decoded.
    """
    limits = policy(settings)
    manifest = in_namespace(manifest, session.namespace, enforced=settings.namespace is not None)
    arrival.announce(session, console)
    namespaces = {item.ref.namespace for item in manifest.objects}
    made_here = {item.name for item in manifest.objects if item.kind == "Namespace"}
    arrival.check_cluster(session, settings, console, namespaces, made_here)
    found = _surroundings(session, settings, manifest, console)
    _check_access(session, settings, manifest, found)
    items = preflight.prepared(settings, manifest, found)
    preflight.guard(settings, items)
    watching = Watching(session, preflight.selectors(manifest, found), tap)
    watching.start()
    trials = preflight.rehearse_on_server(session, items, console.warn, made_here)
    preflight.warn_of_configuration_alone(items, trials, console.warn)
    watching.settle(settings.connect_timeout)
    plan = preflight.plan_of("apply", settings, limits, items, watching)
    _tell(plan, manifest, settings, limits, console)
    return Ready(plan, watching)


def role(session: Session, settings: Settings, manifest: Manifest) -> str:
    """Return the Role that an attempt with this manifest may need, its rollback included."""
    placed = in_namespace(manifest, session.namespace, enforced=settings.namespace is not None)
    needs = _needs(session, settings, placed)
    return role_yaml(needs, Access(session.client).subject())


def _needs(session: Session, settings: Settings, manifest: Manifest) -> tuple[Permission, ...]:
    """Return the rights for a manifest of which nobody knows yet what exists."""
    refs = [item.ref for item in manifest.objects]
    may_delete = settings.prune_created or settings.on_first_failure == OnFirstFailure.DELETE
    return needed(session.resources, refs, creates=None, deletes=refs if may_delete else ())


def apply(
    settings: Settings, manifest: Manifest, console: Console, tape: Tape | None
) -> Attempt | None:
    """Apply a manifest and follow it to its verdict; None after a dry run."""
    session = open_session(settings, SystemClock(), tape.heard if tape else None)
    ready = prepare_attempt(session, settings, manifest, console, tape.line if tape else None)
    if settings.dry_run:
        ready.watching.stop()
        console.note("dry-run", "nothing was written")
        return None
    return run(session, ready.plan, ready.watching, console)


def _surroundings(
    session: Session, settings: Settings, manifest: Manifest, console: Console
) -> preflight.Surroundings:
    """Read what is there; where not even that is allowed, name all that is missing at once."""
    try:
        return preflight.surroundings(session, manifest, console.warn)
    except Forbidden:
        arrival.check_access(session, _needs(session, settings, manifest))
        raise


def _check_access(
    session: Session,
    settings: Settings,
    manifest: Manifest,
    found: preflight.Surroundings,
) -> None:
    new = {ref for ref, fact in found.lives.items() if isinstance(fact, Absent)}
    may_delete = settings.prune_created or settings.on_first_failure == OnFirstFailure.DELETE
    deletes = new if may_delete else ()
    refs = [item.ref for item in manifest.objects]
    arrival.check_access(session, needed(session.resources, refs, creates=new, deletes=deletes))


def _tell(
    plan: Plan, manifest: Manifest, settings: Settings, limits: Policy, console: Console
) -> None:
    """Print where a failure would return to, what is not judged, and what looks unwise."""
    for target in plan.targets:
        console.note("baseline", _baseline_line(target.ref.name, target.baseline))
    unjudged = [str(item.ref) for item in manifest.objects if not item.judged]
    if unjudged:
        console.note("objects", f"applied, not judged: {', '.join(unjudged)}")
    for skipped in manifest.skipped:
        console.note("objects", f"skipped: {skipped}")
    timeout = limits.timeout_seconds
    for finding in lint(manifest, timeout_seconds=timeout, silent=settings.silence):
        console.warn(str(finding))
    if limits.timeout_seconds is not None:
        console.note("budget", f"timeout {format_seconds(limits.timeout_seconds)}")


def _baseline_line(name: str, baseline: object) -> str:
    if isinstance(baseline, Known):
        images = ", ".join(baseline.value.template.images())
        return (
            f"deployment/{name}: a failure returns to revision {baseline.value.revision} ({images})"
        )
    return f"deployment/{name}: nothing serves yet, so a failure has nowhere to return to"
