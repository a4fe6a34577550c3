"""What a failure returns to: chosen and announced before the first write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from gate.app.locks.memory import Memory
from gate.app.preflight.neighbours import read_neighbours
from gate.app.runtime.console import Warn
from gate.app.runtime.live_state import read_facts
from gate.app.runtime.session import Session
from gate.core.kinds.registry import has_way_back, is_workload
from gate.core.model.body import Body
from gate.core.model.fact import Fact, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.foreseen_return import may_restore, would_change_anything
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.target_set import UndoLimits
from gate.core.rollout.baseline import Baseline, find_serving_beside
from gate.core.rollout.policy import BlockedPods, OnFailure, Policy
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.candidates import Candidates
from gate.core.versions.doubts import with_doubts
from gate.core.versions.history import History
from gate.core.versions.judged_version import template_digest
from gate.core.versions.return_doubts import describe_doubt, obstacle, why_not_alone
from gate.core.versions.selection import (
    kept_bodies_needed,
    select,
    shareable_members,
    unnamed_members,
)
from gate.core.versions.undo_choice import revision_name
from gate.core.versions.undo_set import find_returns_beyond, lacking_after, undo_members

_FATES: Final = {
    BlockedPods.EVICT: "the gate evicts them one by one",
    BlockedPods.DELETE: "the gate deletes them one by one",
    BlockedPods.NEVER: "you have to delete them, and the rollback ends with exit 5",
}
"""What becomes of pods of a failed version that their controller leaves."""

_KEPT_COMPLETE: Final = (
    "if all pods ran the failed version before, they come back at it, and the rollback ends with"
    " exit 5, until somebody lowers the partition"
)
"""What becomes of them below a partition where the failed version was complete."""

Note = Callable[[str, str], None]


def with_target_set(
    session: Session, plan: Plan, memory: Memory, beside: LiveFacts | None = None
) -> Plan:
    """Return the plan with the set that a failure returns to; reads what a verified set needs.

    `beside` are the remembered objects that the attempt does not write on its forward leg, None if
    they have not been read yet.
    """
    targets = tuple(target for target in plan.targets if has_way_back(target.ref))
    histories = {target.ref: memory.history(target.ref) for target in targets}
    named = {one.ref for one in plan.objects}
    if beside is None:
        beside = read_beside(session, histories.values(), named)
    candidates = Candidates(targets, plan.objects, histories, beside=beside)
    candidates = with_neighbours(session, candidates, shareable_members(candidates))
    kept: dict[str, Body] = {}
    for ref, digests in kept_bodies_needed(candidates).items():
        kept.update(memory.kept_bodies(ref, digests))
    candidates = replace(candidates, kept=kept)
    unnamed = [ref for ref in unnamed_members(candidates) if ref not in beside]
    others = {ref: fact for ref, fact in beside.items() if ref not in named}
    selection = select(candidates, {**others, **read_facts(session, unnamed)})
    proposed = _digest_applied_objects(plan)
    candidates = with_neighbours(session, candidates, undo_members(candidates, proposed))
    chosen = replace(candidates, targets=selection.targets)
    lacks = lacking_after(chosen, candidates.live_digests(), proposed)
    known = selection.target_set
    is_as_it_was = not known.bodies and not known.missing
    beyond = tuple(find_returns_beyond(candidates, proposed)) if is_as_it_was else ()
    applied = with_doubts(candidates, plan, known.applied)
    target_set = replace(known, applied=applied, undo=UndoLimits(lacks, beyond=beyond))
    returning = {target.ref: target for target in selection.targets}
    chosen_targets = tuple(returning.get(target.ref, target) for target in plan.targets)
    return replace(plan, targets=chosen_targets, target_set=target_set)


def with_neighbours(
    session: Session, candidates: Candidates, shared: Collection[Ref]
) -> Candidates:
    """Return the candidates with the workloads that were verified with one of some objects."""
    if not shared:
        return candidates
    neighbours = read_neighbours(session, shared, candidates.histories)
    return replace(candidates, neighbours=neighbours)


def with_members(session: Session, plan: Plan, memory: Memory) -> Plan:
    """Return the plan with the set that a failure returns to, for one that names no whole set.

    What stands beside its workloads and may have to go back with them is among its objects then,
    and is not written on the way out. There is none where each workload returns to what runs.
    """
    targets = [target for target in plan.targets if has_way_back(target.ref)]
    histories = {target.ref: memory.history(target.ref) for target in targets}
    beside = read_beside(session, histories.values(), {one.ref for one in plan.objects})
    digests = Candidates((), plan.objects, {}, beside=beside).live_digests()
    if any(obstacle(one, histories[one.ref], digests) is not None for one in targets):
        members = (PlannedObject(ref, fact) for ref, fact in beside.items() if _is_known(fact))
        plan = replace(plan, objects=(*members, *plan.objects))
    return with_target_set(session, plan, memory, beside)


def _is_known(fact: Fact[LiveObject]) -> bool:
    return isinstance(fact, Known)


def _digest_applied_objects(plan: Plan) -> dict[Ref, str]:
    """Return the digests of what a plan applies, "" for what could not be tried."""
    applied = [
        write.ref
        for write in plan.writes
        if (write.verb, write.field_manager) == (Verb.APPLY, FIELD_MANAGER)
    ]
    return {ref: applied_digest(plan.trial(ref)) for ref in applied}


def read_beside(
    session: Session, histories: Iterable[History], named: Collection[Ref]
) -> LiveFacts:
    """Read the objects, except workloads, that earlier attempts wrote and this one does not."""
    versions = (version for history in histories for version in history.versions)
    members = {ref for version in versions for ref in version.members if not is_workload(ref)}
    return read_facts(session, sorted(members.difference(named)))


def describe(plan: Plan, note: Note, warn: Warn) -> None:
    """Announce what a failure returns to, and warn of the parts that cannot be restored."""
    restores = may_restore(plan)
    changes = restores or would_change_anything(plan)
    for target in plan.targets:
        if has_way_back(target.ref):
            note("baseline", _baseline_line(plan, target, changes=changes))
        else:
            note("baseline", f"{plan.name_of(target.ref)}: what it does is not undone by a failure")
    for ref, doubt in plan.target_set.applied.doubts.items():
        note("baseline", f"{plan.name_of(ref)}: {doubt}")
    if _returns(plan.policy):
        for line in _members(plan):
            note("baseline", line)
    if _returns(plan.policy) and restores:
        for ref, why in plan.target_set.missing.items():
            returned = f"{plan.name_of(ref)} could not be returned after a failure ({why})"
            warn(f"{returned}: the rollback would end as failed, exit 5")
        for line in _strategies_put_back(plan):
            warn(line)


def _strategies_put_back(plan: Plan) -> Iterator[str]:
    """Say what becomes of the failed version's pods where a controller would leave them."""
    how = plan.policy.response.blocked_pods
    fate = _FATES[how]
    for target in plan.targets:
        before, trial = plan.before(target.ref), plan.trial(target.ref)
        was = before.workload if before is not None else None
        failed = trial.workload if trial is not None else None
        if was is None or failed is None or not isinstance(target.baseline, Known):
            continue
        if not (strategy := was.strategy_put_back(failed)):
            continue
        left = f"{plan.name_of(target.ref)}: a failure puts {strategy} back, and its controller"
        kept = f"; {_KEPT_COMPLETE}" if was.holds_last_complete and failed.updates_all_pods else ""
        yield (
            f"{left} then leaves pods of the failed version as they are: {fate}"
            f" (--replace-blocked-pods {how}){kept}"
        )


def _members(plan: Plan) -> Iterator[str]:
    followed = {target.ref for target in plan.targets}
    shared = plan.target_set.shared
    beside = [ref for ref in plan.target_set.bodies if ref not in followed]
    if members := [plan.name_of(ref) for ref in beside if ref not in shared]:
        yield f"with it returns, as it was verified: {', '.join(members)}"
    for ref, workload in shared.items():
        goes = "goes to what" if ref in beside else "stays at what"
        yield f"{plan.name_of(ref)} {goes} {plan.name_of(workload)} was verified with since"


def _returns(policy: Policy) -> bool:
    return not policy.observe and policy.response.on_failure is OnFailure.ROLLBACK


def _baseline_line(plan: Plan, target: Target, *, changes: bool) -> str:
    returns, name = _returns(plan.policy), plan.name_of(target.ref)
    match target.baseline:
        case Known(baseline):
            version = str(baseline)
            if target.ref in plan.target_set.bodies:
                there = _there(plan, target, baseline, version)
                if not returns:
                    return f"{name}: a failure does not return to {there}"
                why = _why_not_to_what_ran(plan, target.ref)
                beside = f"{_beside(plan, target)}{_what_serves(target, baseline)}"
                return f"{name}: {why} a failure returns to {there}{beside}"
            if not returns:
                return f"{name}: {version} serves; a failure does not return to it"
            if not changes:
                return f"{name}: {version} runs, and nothing changes: a failure takes nothing back"
            what = "a failure of this undo" if plan.command == "undo" else "a failure"
            return f"{name}: {what} returns to {version}{_as_it_is(target, baseline)}"
        case Unknown(why):
            return f"{name}: cannot tell what serves ({why}): no way back"
        case _:
            if target.snapshot.live is None:
                return f"{name}: nothing serves yet, so a failure has nowhere to return to"
            why = _why_not_to_what_ran(plan, target.ref)
            return f"{name}: {why} a failure has nowhere to return to"


def _there(plan: Plan, target: Target, baseline: Baseline, version: str) -> str:
    """Name a version that no longer runs, or not as it was verified, and why it is returned to."""
    ref, doubt = target.ref, baseline.unverified
    if doubt is not None and doubt.reason is not Reason.SET_INCOMPLETE:
        return f"{version} with the strategy of its verification{_as_it_is(target, baseline)}"
    if ref in plan.target_set.unverified:
        return f"the older {version}"
    if ref in plan.target_set.applied.again:
        return f"{version}, verified before the one that is applied again"
    return f"the last verified {version}"


def _beside(plan: Plan, target: Target) -> str:
    """Say what differs if the version to return to has the pod template being rolled out."""
    trial = plan.trial(target.ref)
    if trial is None or trial.workload is None or not isinstance(target.baseline, Known):
        return ""
    wanted = template_digest(target.baseline.value.template)
    is_same = template_digest(trial.workload.template) == wanted
    return ", with the configuration of then" if is_same else ""


def _what_serves(target: Target, baseline: Baseline) -> str:
    """Name what serves beside what is live, if that is not what is returned to."""
    serving = find_serving_beside(target.snapshot)
    if serving is None or serving.name == baseline.revision_name:
        return ""
    return f"; {revision_name(serving)} serves until then"


def _as_it_is(target: Target, baseline: Baseline) -> str:
    """Say what a return to what runs does not show: that it runs, or that it is good."""
    live = target.snapshot.live
    empty = ", which runs no pod" if live is not None and live.replicas == 0 else ""
    doubt = baseline.unverified
    if doubt is None:
        return empty
    return f"{empty}, not verified ({describe_doubt(doubt.reason)})"


def _why_not_to_what_ran(plan: Plan, ref: Ref) -> str:
    """Return why a workload does not return to what ran, as the start of a line."""
    obstacles = plan.target_set.obstacles
    if ref in obstacles or not obstacles:
        why = obstacles.get(ref) or why_not_alone(plan.target(ref).snapshot)
        return f"{why}, so"
    other, why = next(iter(obstacles.items()))
    return f"together with {plan.name_of(other)} ({why})"
