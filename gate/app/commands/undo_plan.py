"""The plan of an undo: all that can refuse it before its first write, in order."""

from __future__ import annotations

from collections.abc import Sequence

from gate.app.command_context import CommandContext
from gate.app.commands import undo_refusal
from gate.app.commands.undo_items import prepare_items
from gate.app.commands.undo_pods import plan_to_replace_pods
from gate.app.commands.undo_return import check_return
from gate.app.commands.undo_revision import named_revision, with_number_of_now
from gate.app.commands.undo_subject import (
    UndoSubject,
    describe_rollback,
    read_subject,
    running_name,
)
from gate.app.execution.earlier_runs import list_runs_since
from gate.app.execution.run import Ready
from gate.app.locks.command_locks import wished_permissions
from gate.app.preflight import first_questions, memory_warnings, return_target
from gate.app.preflight import plan as preflight
from gate.app.preflight.guards import refuse_deleting, refuse_managed, refuse_protected_plan
from gate.app.preflight.replicas import scaler_permissions, with_scalers
from gate.app.preflight.server_dry_run import Prepared
from gate.app.preflight.target_age import within_age
from gate.app.preflight.trials import Trials, rehearse_on_server
from gate.app.preflight.way_back_dry_run import with_way_back
from gate.app.runtime.live_state import selector_of
from gate.app.runtime.watches import Watching
from gate.config import policy
from gate.core.kinds.registry import is_workload
from gate.core.model.fact import Absent
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Revision
from gate.core.plan.plan import Plan
from gate.core.plan.rollback_plan import content
from gate.core.rollout.baseline import find_serving_beside
from gate.core.versions.undo_choice import (
    Choice,
    choice_name,
    choose_version,
    revision_name,
    version_of,
)
from gate.kube.reads.quorum_reads import Reader
from gate.kube.rights.access import list_needed
from gate.report.advice.takeover import take_over_flags
from gate.report.words.object_names import some_names

MOST_RUNS = 3
"""How many Jobs that an undo does not take back are named."""
Items = tuple[Prepared, ...]


def plan_undo(context: CommandContext, name: str, named: Revision | None) -> Ready:
    """Prepare to return to an earlier version, or to `named`, what `--to-revision` named at first.

    Writes nothing.
    """
    session, settings, console = context.session, context.settings, context.console

    # Read what runs and what is remembered of it; choose the version to return to.
    found = with_number_of_now(read_subject(context, name), named)
    choice = _choice(found)
    for line in choice.skipped:
        console.note("undo", f"skipped {line}")
    _warn_of_rollback(found, choice)
    _warn_of_serving(found, choice)
    _warn_of_runs(found, choice)
    reader = Reader(session.client, session.resources, session.clock)
    items = with_scalers(reader, prepare_items(found, choice), console.warn)

    lives = [item.live for item in items if item.is_workload and item.live is not None]
    _refuse_unwritable(context, name, items, lives)

    # Try each write on the server, as a dry run, and compare the result with that version.
    trials = rehearse_on_server(session, items, console.warn)
    _check_trials(found, choice, items, trials)

    # Watch: what the watches list is what serves before the first write.
    watching = Watching(session, {live.ref: selector_of(live) for live in lives})
    watching.start()
    watching.settle(settings.connect_timeout)
    watching.warn_of_unread(context.console.warn)

    # Lay out the writes, and choose what a failure returns to; try that on the server, too.
    targets = tuple(watching.target(live.ref) for live in lives)
    refs = [item.ref for item in items]
    plan = preflight.plan_of("undo", policy(settings), items, trials, targets, refs)
    plan = plan_to_replace_pods(found, choice, plan)
    # What --deployment-only leaves on the way out is left on the way back as well.
    choose = (
        return_target.with_target_set if settings.deployment_only else return_target.with_members
    )
    plan = choose(session, plan, context.memory)
    if restored := [ref for ref in plan.target_set.bodies if ref not in refs]:
        _check_access(context, name, items, restored)
    refuse_protected_plan(plan, settings.protected_namespace)
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), console.caution)
    plan = with_way_back(session, plan, allowed=settings.allow_irreversible, warn=console.warn)
    return_target.describe(plan, console.note, console.caution)
    _warn_of_memory(context, plan)
    return Ready(context, plan, watching)


def _choice(found: UndoSubject) -> Choice:
    revision = named_revision(found.settings, found.live)
    if revision is not None:
        choice = Choice(version_of(revision, found.history), revision)
    else:
        gone = [ref for ref, fact in found.lives.items() if isinstance(fact, Absent)]
        choice = choose_version(found.live.snapshot, found.history, found.digests(), gone)
    if choice.version is None and choice.revision is None:
        raise undo_refusal.nothing_left(found, choice)
    return choice


def _warn_of_rollback(found: UndoSubject, choice: Choice) -> None:
    """Warn if a rollback has already left the version that somebody may mean to undo."""
    rolled_back = describe_rollback(found)
    if not rolled_back or found.settings.to_revision is not None:
        return
    to = choice_name(choice, found.live.snapshot)
    found.console.warn(
        f"{rolled_back}: {running_name(found)} runs since, and this undo replaces it by {to}"
    )


def _warn_of_serving(found: UndoSubject, choice: Choice) -> None:
    """Warn if an undo passes over what serves, with the command that returns to it."""
    snapshot = found.live.snapshot
    serving = find_serving_beside(snapshot)
    if serving is None or found.settings.to_revision is not None or serving == choice.revision:
        return
    count = snapshot.count_pods(serving).available
    flags = ["--to-revision", str(serving.revision), *take_over_flags(found.settings.take_over)]
    forced = ["--force-conflicts"] if found.settings.force_conflicts else []
    found.console.warn(
        f"{found.ref}: {revision_name(serving)} was found serving, with {count} of {count} pods:"
        f" this undo replaces it by {choice_name(choice, snapshot)}; to return to it instead:"
        f" {found.command('undo', *flags, *forced)}"
    )


def _warn_of_runs(found: UndoSubject, choice: Choice) -> None:
    """Name the Jobs that later applies made, which no undo takes back; no smoke tests."""
    if choice.revision is None:
        return
    since = choice.revision.created_at
    later = [str(one.ref) for one in list_runs_since(found.session, found.ref, since)]
    if later:
        shown = choice_name(choice, found.live.snapshot)
        names = some_names(later, MOST_RUNS)
        found.console.warn(f"created since {shown}, and not undone: what {names} did")


def _refuse_unwritable(
    context: CommandContext, name: str, items: Items, lives: Sequence[LiveObject]
) -> None:
    """Refuse what we have no right to write, and what others manage or are deleting."""
    _check_access(context, name, items)
    cluster = context.session.connection.cluster
    refuse_deleting([item.live for item in items if item.live is not None], cluster)
    if not context.settings.allow_managed:
        refuse_managed(lives, cluster)


def _check_access(
    context: CommandContext, name: str, items: Items, restored: Sequence[Ref] = ()
) -> None:
    """Refuse if permissions are missing for what is written, also `restored` after a failure."""
    refs = [*(item.ref for item in items), *restored]
    new = [item.ref for item in items if item.live is None]
    removes = context.settings.replace_blocked_pods
    needs = list_needed(context.session.resources, refs, creates=new, removes=removes)
    secrets = {ref.namespace for ref in refs if ref.kind == "Secret"}
    workloads = [ref for ref in refs if is_workload(ref)]
    wished = (
        *wished_permissions(context.settings, {ref.namespace for ref in refs}, secrets),
        *scaler_permissions(workloads),
    )
    first_questions.check_access(context.session, name, needs, wished)


def _check_trials(found: UndoSubject, choice: Choice, items: Items, trials: Trials) -> None:
    """Refuse an undo that would not bring its version back; warn of what it ends or leaves."""
    warn = found.console.warn
    for item in items:
        if item.is_workload and item.live is not None and item.live.is_paused:
            warn(f"{item.ref} was paused: the undo resumes it")
    for item in items:
        if item.ref == found.ref:
            changes = _changes_any(items, trials, without=found.ref)
            check_return(item, trials.get(item.ref), choice, found, changes_beside=changes)
    preflight.warn_of_configuration(items, trials, warn, found.session.connection.cluster)


def _changes_any(items: Items, trials: Trials, *, without: Ref) -> bool:
    """Tell whether an undo changes any object but one, by the server's dry run."""
    for item in items:
        trial = trials.get(item.ref)
        if item.ref == without or trial is None:
            continue
        if item.live is None or content(trial.body) != content(item.live.body):
            return True
    return False


def _warn_of_memory(context: CommandContext, plan: Plan) -> None:
    """Warn of what the locks cannot keep, if there are any."""
    if context.lock_lane is None:
        return
    session, console = context.session, context.console
    memory_warnings.warn_of_what_is_not_kept(session, plan, console.caution)
    if context.settings.keep_verified_secrets:
        memory_warnings.warn_of_what_will_not_be_kept(session, plan, console.warn)
