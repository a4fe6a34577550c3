"""Whether a failure would restore anything, as far as can be told before the first write."""

from __future__ import annotations

from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.plan.rollback_plan import content, goes_back, has_target


def may_restore(plan: Plan) -> bool:
    """Tell whether a failure of what is about to be written would restore anything of before.

    What no dry run could try counts as changed.
    """
    changed = {target.ref for target in plan.targets if _would_change(plan, target.ref)}
    return goes_back(plan, changed, {ref for ref in changed if has_target(plan, ref)})


def _would_change(plan: Plan, ref: Ref) -> bool:
    before, trial = plan.before(ref), plan.trial(ref)
    return before is None or trial is None or content(before.body) != content(trial.body)
