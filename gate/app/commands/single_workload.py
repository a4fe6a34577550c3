"""What commands about one workload share: phases, guards, and a plan that follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from gate.app.command_context import CommandContext, connect
from gate.app.execution.left_runs import name_left_runs
from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.app.execution.run import Ready, run
from gate.app.locks.command_locks import wished_permissions
from gate.app.preflight import first_questions, return_target
from gate.app.preflight.guards import refuse_deleting, refuse_managed, refuse_protected_plan
from gate.app.preflight.target_age import within_age
from gate.app.preflight.way_back_dry_run import with_way_back
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.live_state import Live, read_live, read_object, selector_of
from gate.app.runtime.watches import Watching
from gate.app.runtime.workload_names import argument_of, workload_ref
from gate.config.check_settings import CHECK_OPTIONS
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.kube.answers.failures import Forbidden
from gate.kube.rights.access import Permission, list_needed, one_change

_Read = TypeVar("_Read")


def run_single(
    start: CommandStart,
    name: str,
    plan: Callable[[CommandContext, str], Ready],
    *,
    makes_version: bool = False,
) -> Attempt:
    """Go through the phases of a command about one workload; they are those of an apply.

    `plan` is called under the lock, once what a dead gate left is finished. `makes_version` says
    whether it rolls out another version, so that no first version needs to be awaited.
    """
    with start.ends_at_signal():
        # Connect and guard: the right cluster, and a workload that may be changed.
        context = connect(start)
        live = guard_workload(context, name)

        # Lock the workload.
        context = context.with_locks([lock_of(live.object.ref)])

    # Recover: finish what a gate that died under this lock left.
    rewrites = (live.object.ref,) if makes_version else ()
    ends = finish_open_records(Recovery(context, rewrites=rewrites))
    name_left_runs(context, ends)
    ended = cut_off(ends)
    if ended is not None:
        return ended

    with start.ends_at_signal():
        # Plan: everything else that can refuse it, up to the dry run of the way back.
        ready = plan(context.with_lock_lane(), name)

    # Run: record the plan, write, follow, judge, and go back if it fails.
    return run(ready)


def guard_workload(context: CommandContext, name: str, also: Iterable[Permission] = ()) -> Live:
    """Announce the cluster, refuse a wrong one; return the workload as `read_guarded` does."""
    guard_namespace(context)
    live = read_guarded(context, name, also)
    _warn_of_unasked_checks(context, live.object.ref)
    return live


def _warn_of_unasked_checks(context: CommandContext, ref: Ref) -> None:
    """Say that the configured health checks decide nothing here, and how to ask them."""
    if CHECK_OPTIONS.isdisjoint(context.settings.ignored):
        return
    files = [word for path in context.settings.config for word in ("--config", path)]
    words = ("rollout-gate", "checks", argument_of(ref), *files)
    command = context.session.connection.cluster.command(*words, namespace=ref.namespace)
    context.console.warn(
        "health checks are configured, and this command asks none of them; to ask them once it has"
        f" ended: {command}"
    )


def guard_namespace(context: CommandContext) -> None:
    """Announce the cluster; refuse a wrong one, and a namespace that must not be written to."""
    first_questions.announce(context)
    first_questions.check_cluster(context, [context.session.namespace])


def read_guarded(context: CommandContext, name: str, also: Iterable[Permission] = ()) -> Live:
    """Check permissions and guards; return the workload and what it owns.

    `also` are rights that a refusal advises besides: without them the command only warns.
    """
    session = context.session
    refs = [workload_ref(session.namespace, name)]
    removes = context.settings.replace_blocked_pods
    needs = list_needed(session.resources, refs, creates=(), removes=removes)
    wished = (*wished_permissions(context.settings, [session.namespace]), *also)
    live = _read_with_rights(context, name, needs, wished, lambda: read_live(session, name))
    _refuse_guarded(context, live.object)
    return live


def read_guarded_alone(context: CommandContext, name: str) -> LiveObject:
    """Check permissions and guards; return the workload alone, without what it owns."""
    session = context.session
    ref = workload_ref(session.namespace, name)
    needs = one_change(session.resources, ref)
    live = _read_with_rights(context, name, needs, (), lambda: read_object(session, ref))
    _refuse_guarded(context, live)
    return live


def _read_with_rights(
    context: CommandContext,
    name: str,
    needs: Iterable[Permission],
    wished: tuple[Permission, ...],
    read: Callable[[], _Read],
) -> _Read:
    """Read, and refuse if permissions are missing, naming all of them at once."""
    try:
        found = read()
    except Forbidden:
        first_questions.check_access(context.session, name, needs, wished)
        raise
    first_questions.check_access(context.session, name, needs, wished)
    return found


def _refuse_guarded(context: CommandContext, live: LiveObject) -> None:
    cluster = context.session.connection.cluster
    refuse_deleting([live], cluster)
    if not context.settings.allow_managed:
        refuse_managed([live], cluster)


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan without a target, the workload, and the dry run's result if there was one."""

    live: Live
    plan: Plan
    trial: LiveObject | None = None


def watch_target(context: CommandContext, draft: Draft) -> Ready:
    """Watch the workload, make it the plan's target, and check the way back."""
    session, settings, console = context.session, context.settings, context.console
    live = draft.live
    ref = live.object.ref
    watching = Watching(session, {ref: selector_of(live.object)})
    watching.start()
    watching.settle(settings.connect_timeout)
    watching.warn_of_unread(context.console.warn)
    target = watching.target(ref)
    plan = replace(draft.plan, targets=(target,))
    plan = return_target.with_members(session, plan, context.memory)
    refuse_protected_plan(plan, settings.protected_namespace)
    restored = [one for one in plan.target_set.bodies if one != ref]
    removes = settings.replace_blocked_pods
    needs = list_needed(session.resources, [ref, *restored], creates=(), removes=removes)
    wished = wished_permissions(settings, [session.namespace])
    first_questions.check_access(session, ref.name, needs, wished)
    plan = within_age(plan, settings.rollback_max_age_days, session.clock.wall(), console.caution)
    trials = {ref: draft.trial} if draft.trial is not None else {}
    allowed = settings.allow_irreversible
    plan = with_way_back(session, plan, allowed=allowed, warn=console.warn, trials=trials)
    return_target.describe(plan, console.note, console.caution)
    return Ready(context, plan, watching)
