"""The plan of an apply: all that can refuse it before its first write, in order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gate.app.command_context import CommandContext
from gate.app.execution.run import Ready
from gate.app.preflight import memory_warnings, replicas, return_target
from gate.app.preflight import plan as preflight
from gate.app.preflight.check_trial import try_checks
from gate.app.preflight.comparison_warnings import warn_of_comparisons
from gate.app.preflight.guards import refuse_protected_plan
from gate.app.preflight.manifest_guard import created_namespaces
from gate.app.preflight.manifest_rights import read_with_rights
from gate.app.preflight.rejections import with_places
from gate.app.preflight.server_dry_run import Prepared
from gate.app.preflight.target_age import within_age
from gate.app.preflight.trials import Trials, rehearse_on_server
from gate.app.preflight.way_back_dry_run import with_way_back
from gate.app.runtime.console import Console
from gate.app.runtime.watches import Watching
from gate.config import object_wait, policy
from gate.core.kinds.configuration import is_configuration
from gate.core.model.objects import Ref
from gate.core.plan.kept_otherwise import foresee_kept_otherwise
from gate.core.plan.plan import Plan
from gate.core.readiness.rules import may_change, readiness_of
from gate.core.rollout.policy import WaitFor
from gate.duration import format_seconds
from gate.errors import RefusedError
from gate.manifests.kinds.rules import LintCode
from gate.manifests.lint import lint, lint_lines
from gate.manifests.manifest import Manifest, ManifestObject

Items = tuple[Prepared, ...]


def plan_apply(context: CommandContext, manifest: Manifest) -> Ready:
    """Check everything that can refuse an apply, for a manifest returned by `guard_manifest`.

    Writes nothing.
    """
    session, settings, memory = context.session, context.settings, context.memory

    # Read the live objects; refuse if we lack a right that the apply or its rollback may need.
    found = read_with_rights(context, manifest)
    items = preflight.prepare_objects(settings, manifest, found, memory)

    # Refuse what others manage, paused, scaled or are deleting.
    paused = memory_warnings.paused_by_us(items, memory)
    preflight.guard(session, settings, items, paused)

    # Watch from now on: what the watches list is what serves before the first write.
    tap = context.tape.line if context.tape is not None else None
    watching = Watching(session, preflight.selectors(manifest, found), tap)
    watching.start()

    # Try each write on the server, as a dry run.
    trials = _try_writes(context, manifest, items)
    preflight.guard_outcome(settings, items, trials, paused)
    watching.settle(settings.connect_timeout)
    watching.warn_of_unread(context.console.warn)

    # Lay out the writes, and choose what a failure returns to; try that on the server, too.
    plan = _lay_out(context, items, trials, watching, paused)
    _announce(plan, manifest, context.console)
    _note_resumptions(plan, items, paused, context.console)
    _warn(context, manifest, plan, items, trials)

    # Ask each check once, of the version that serves.
    try_checks(context, plan.targets)
    warn_of_comparisons(settings, items, trials, context.console.warn)
    return Ready(context, plan, watching)


def _try_writes(context: CommandContext, manifest: Manifest, items: Items) -> Trials:
    """Return what the server would make of each object; a rejection names its place in a file."""
    made_here = created_namespaces(manifest)
    try:
        return rehearse_on_server(context.session, items, context.console.warn, made_here)
    except RefusedError as error:
        raise with_places(error, manifest) from error


def _lay_out(
    context: CommandContext,
    items: Items,
    trials: Trials,
    watching: Watching,
    paused: Collection[Ref],
) -> Plan:
    """Return the plan with its way back; it resumes the workloads in `paused`."""
    session, settings, console = context.session, context.settings, context.console
    targets = tuple(watching.target(item.ref) for item in items if item.is_workload)
    resumed = {item.ref for item in items} if settings.resume else paused
    limits = replace(policy(settings), object_wait=object_wait(settings))
    plan = preflight.plan_of("apply", limits, items, trials, targets, resumed)
    plan = return_target.with_target_set(session, plan, context.memory)
    refuse_protected_plan(plan, settings.protected_namespace)
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), console.caution)
    return with_way_back(session, plan, allowed=settings.allow_irreversible, warn=console.warn)


def _announce(plan: Plan, manifest: Manifest, console: Console) -> None:
    """Announce what a failure would return to, what is not judged, and the timeout."""
    return_target.describe(plan, console.note, console.caution)
    others = [item for item in manifest.objects if not item.judged]
    waited = [item for item in others if _is_waited_for(plan, item)]
    stored = [item for item in others if is_configuration(item.ref, item.body)]
    unjudged = [item for item in others if item not in waited and item not in stored]
    for items, how in (
        (stored, ""),
        (waited, ", waited for where its status tells"),
        (unjudged, ", not judged"),
    ):
        if items:
            names = ", ".join(plan.name_of(item.ref) for item in items)
            console.note("objects", f"applied{how}: {names}")
    for skipped in manifest.skipped:
        console.note("objects", f"skipped: {skipped.object}: {skipped.why}")
    if plan.policy.budgets.timeout_seconds is not None:
        console.note("budget", f"timeout {format_seconds(plan.policy.budgets.timeout_seconds)}")


def _is_waited_for(plan: Plan, item: ManifestObject) -> bool:
    """Tell whether an object may be waited for: it begins without a status that says it is ready.

    Of a custom kind nobody knows whether it will have one.
    """
    is_wanted = plan.policy.object_wait.wait_for is WaitFor.ALL
    return is_wanted and (readiness_of(item.body).is_waited_for or may_change(item.ref))


def _note_resumptions(plan: Plan, items: Items, paused: Collection[Ref], console: Console) -> None:
    """Announce which pauses of an earlier run this apply ends."""
    for item in items:
        if item.ref in paused and item.live is not None and item.live.is_paused:
            note = "an earlier run paused it (--on-failure pause); this apply resumes it"
            console.note("resume", f"{plan.name_of(item.ref)}: {note}")


def _warn(
    context: CommandContext, manifest: Manifest, plan: Plan, items: Items, trials: Trials
) -> None:
    """Warn of what refuses nothing but may surprise: about the memory, replicas, the manifest."""
    session, settings, console = context.session, context.settings, context.console
    memory_warnings.warn_of_failures(items, trials, context.memory, console.warn)
    if context.lock_lane is not None:
        memory_warnings.warn_of_what_is_not_kept(session, plan, console.caution)
    if settings.keep_verified_secrets:
        memory_warnings.warn_of_what_will_not_be_kept(session, plan, console.warn)
    for line in foresee_kept_otherwise(plan):
        console.caution(line)
    replicas.warn_of_replicas(items, console.warn)
    preflight.warn_of_configuration(items, trials, console.warn, session.connection.cluster)
    preflight.warn_of_strategies(items, trials, console.warn)
    if LintCode.TIMEOUT_BEFORE_DEADLINE not in settings.silence:
        timeout_seconds = plan.policy.budgets.timeout_seconds
        preflight.warn_of_short_timeout(timeout_seconds, items, trials, console.warn)
    found = lint(manifest, timeout_seconds=settings.timeout, silent=settings.silence)
    for line in lint_lines(found, plan.name_of):
        console.advise(line)
