"""A first version that was left incomplete, and that the next run writes over: nobody awaits it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan, Target
from gate.core.plan.rollback_plan import writes_back
from gate.core.recovery.recorded_writes import collect_written
from gate.core.recovery.resumption import is_paused_half_way, list_incomplete


def close_if_rewritten(plan: Plan, rewrites: Collection[Ref], at: float) -> Plan | None:
    """Return the plan that ends a found attempt at once as interrupted, None to finish it.

    `rewrites` are the workloads that this run is to write, `at` is monotonic seconds. All that the
    attempt followed has to be among them, Jobs aside, what is incomplete of it without a version to
    return to, and a failure would write nothing: whatever became of it, this run would find the
    same objects.
    """
    if plan.resumed is None or plan.resumed.back or plan.resumed.record.leg is not Leg.FORWARD:
        return None
    incomplete = list_incomplete(plan, at)
    if not incomplete or not all(map(_has_no_other_end, incomplete)):
        return None
    departed = frozenset(plan.resumed.departed)
    ours = frozenset(one.ref for one in plan.targets) - departed
    lasting = {one.ref for one in plan.targets if has_way_back(one.ref)}
    if not lasting <= {*rewrites} or writes_back(plan, collect_written(plan), departed, ours):
        return None
    return replace(plan, resumed=replace(plan.resumed, back=True))


def _has_no_other_end(target: Target) -> bool:
    """Tell whether its end changes nothing: no Job, none that a pause holds, none with a return."""
    is_first = has_way_back(target.ref) and not isinstance(target.baseline, Known)
    return is_first and not is_paused_half_way(target)
