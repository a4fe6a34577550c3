"""Whether a failure would restore anything, as far as can be told before the first write."""

from __future__ import annotations

from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.plan.rollback_plan import content, goes_back, has_target


def may_restore(plan: Plan) -> bool:
    """Tell whether a failure of what is about to be written would restore anything of before.

    What no dry run could try counts as changed. An attempt that changes nothing leaves all as it
    is, unless a verified set returns.
    """
    mine = {one.ref for one in plan.objects if _would_change(plan, one.ref)}
    mine |= {one.ref for one in plan.objects if one.ref in plan.target_set.bodies}
    restorable = {ref for ref in mine if has_target(plan, ref)}
    rolled_out = {target.ref for target in plan.targets if target.ref in mine}
    return bool(restorable) and goes_back(plan, rolled_out, restorable)


def would_change_anything(plan: Plan) -> bool:
    """Tell whether a plan changes any object; what no dry run could try counts as changed."""
    return any(_would_change(plan, write.ref) for write in plan.writes)


def _would_change(plan: Plan, ref: Ref) -> bool:
    before, trial = plan.before(ref), plan.trial(ref)
    return before is None or trial is None or content(before.body) != content(trial.body)
