"""Does an undo leave pods of the version that it undoes? Known before its first write."""

from __future__ import annotations

from gate.app.commands.undo_subject import UndoSubject
from gate.core.model.outcome import Reason
from gate.core.plan.foreseen_return import Intent, would_write
from gate.core.plan.plan import Plan, Target
from gate.core.plan.undone_version import changes_no_pod, find_left_pods, with_undone_versions
from gate.core.rollout.policy import BlockedPods
from gate.core.rollout.workload_kind import BlockingPod
from gate.core.versions.undo_choice import Choice, choice_name, older_revision, revision_name
from gate.errors import RefusedError


def plan_to_replace_pods(found: UndoSubject, choice: Choice, plan: Plan) -> Plan:
    """Return the plan, which also replaces what the restored strategy would leave, and say so.

    Raise RefusedError where pods of the version that is undone would stay, or none would change.
    """
    plan = with_undone_versions(plan)
    never = plan.policy.response.blocked_pods is BlockedPods.NEVER
    for target in plan.targets:
        left = find_left_pods(plan, target)
        kept = [one for one in left if one.obstacle]
        if kept:
            raise _refuse_kept(found, choice, plan, target, kept)
        if left and never:
            raise RefusedError(
                f"{_describe(plan, target, left)}, and --replace-blocked-pods is never",
                reason=Reason.BLOCKED_BY_POD,
                hint="without that flag the gate replaces them, one at a time",
            )
        if left:
            how = plan.policy.response.blocked_pods
            found.console.note("undo", f"{_describe(plan, target, left)}: the gate {how}s them")
        if changes_no_pod(plan, target):
            _refuse_unchanged(found, choice, plan, target)
    return plan


def _describe(plan: Plan, target: Target, left: tuple[BlockingPod, ...]) -> str:
    names = ", ".join(one.pod.name for one in left)
    verb = "stays" if len(left) == 1 else "stay"
    return (
        f"{plan.name_of(target.ref)}: {names} of the version that is undone {verb} by the update"
        " strategy that comes back"
    )


def _refuse_kept(
    found: UndoSubject, choice: Choice, plan: Plan, target: Target, kept: list[BlockingPod]
) -> RefusedError:
    names, why = ", ".join(one.pod.name for one in kept), kept[0].obstacle
    each = "it" if len(kept) == 1 else "each of them"
    shown = choice_name(choice, found.live.snapshot)
    return RefusedError(
        f"{plan.name_of(target.ref)} would not leave the version that is undone for {shown}:"
        f" {names} would stay, as {each} {why.removeprefix('it ')}",
        reason=Reason.BLOCKED_BY_POD,
        hint=_hint(found, choice, target),
    )


def _refuse_unchanged(found: UndoSubject, choice: Choice, plan: Plan, target: Target) -> None:
    """Refuse an undo that puts nothing back but a partition; where more goes back, say it."""
    shown = choice_name(choice, found.live.snapshot)
    name = plan.name_of(target.ref)
    said = f"no pod of {name} would change: all of them run {shown}, and come back at it"
    if would_write(plan) != {Intent.CHANGE: (target.ref,)}:
        found.console.warn(said)
        return
    raise RefusedError(said, reason=Reason.BLOCKED_BY_POD, hint=_hint(found, choice, target))


def _hint(found: UndoSubject, choice: Choice, target: Target) -> str:
    """Return what works: the template alone where the strategy that is there brings it to all."""
    apply = "apply the manifest of the version that should run, with a partition of 0"
    live, snapshot = target.snapshot.live, found.live.snapshot
    chosen = choice.revision
    if chosen is None or chosen.template.body == found.live.workload.template.body:
        chosen = older_revision(snapshot, found.history)
    if live is None or not live.updates_all_pods or chosen is None or target.ref != found.ref:
        return apply
    number = ("--to-revision", str(chosen.revision))
    undo = found.command("undo", "--deployment-only", *number)
    return f"the pod template alone of {revision_name(chosen)}, for all pods: {undo}; or {apply}"
