"""The version that an undo takes back: a pod of it that stays was not undone."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.objects import Workload
from gate.core.plan.plan import Plan, Target
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import BlockingPod


def with_undone_versions(plan: Plan) -> Plan:
    """Return the plan of an undo, which is done once no pod of what ran before is left."""
    targets = (
        replace(one, snapshot=one.snapshot.undo(_find_undone(plan, one))) for one in plan.targets
    )
    return replace(plan, targets=tuple(targets))


def find_left_pods(plan: Plan, target: Target) -> tuple[BlockingPod, ...]:
    """Return the pods of the version that is undone that the controller would leave."""
    after = _workload_after(plan, target)
    snapshot = target.snapshot
    return () if after is None else snapshot.kind.find_left_pods(snapshot, after)


def changes_no_pod(plan: Plan, target: Target) -> bool:
    """Tell whether an undo raises a partition alone, below which each pod comes back as it is."""
    live, after = target.snapshot.live, _workload_after(plan, target)
    if live is None or after is None or live.template.body != after.template.body:
        return False
    is_raised = bool(after.strategy_put_back(live)) and after.holds_last_complete
    return is_raised and not target.snapshot.undone


def _find_undone(plan: Plan, target: Target) -> str:
    """Return the key of the version that an undo takes back, "" where no pod of it may stay.

    With `OnDelete` before and afterwards people replace the pods. Where the template stays, and all
    pods would come back at it, they run what the undo returns to.
    """
    snapshot = target.snapshot
    live, after = snapshot.live, _workload_after(plan, target)
    if live is None or after is None:
        return ""
    if live.leaves_old_pods and after.leaves_old_pods:
        return ""
    key = snapshot.current_key
    if live.template.body != after.template.body:
        return key
    is_raised = bool(after.strategy_put_back(live))
    return key if is_raised and _may_replace_any(snapshot.undo(key), after) else ""


def _may_replace_any(snapshot: Snapshot, after: Workload) -> bool:
    left = snapshot.kind.find_left_pods(snapshot, after)
    return any(not one.obstacle for one in left)


def _workload_after(plan: Plan, target: Target) -> Workload | None:
    trial = plan.trial(target.ref)
    return trial.workload if trial is not None else None
