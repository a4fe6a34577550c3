"""What a plan would change and a failure would restore, as reported before the first write."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan, PlannedObject
from gate.core.plan.rollback_plan import content, find_versions, goes_back, without_target
from gate.core.plan.taken_fields import removes_taken_fields


class Intent(enum.Enum):
    """What a write would do to its object, as the server's dry run shows it."""

    CREATE = "create"
    CHANGE = "change"
    UNTRIED = "perhaps change"
    REPLACE = "delete and create again"


def may_restore(plan: Plan) -> bool:
    """Tell whether a failure of this plan would restore anything.

    An object without a dry run counts as changed. If the plan changes nothing, a failure restores
    nothing, unless it returns to a verified set.
    """
    returned = plan.target_set.bodies
    mine = {
        one.ref
        for one in plan.objects
        if has_way_back(one.ref) and (one.ref in returned or _would_change(plan, one))
    }
    restorable = mine - without_target(plan)
    rolled_out = find_versions(plan, mine)
    return bool(restorable) and goes_back(plan, rolled_out, restorable)


def would_change_anything(plan: Plan) -> bool:
    """Tell whether a plan changes any object; one without a dry run counts as changed."""
    written = {write.ref for write in plan.writes}
    return any(_would_change(plan, one) for one in plan.objects if one.ref in written)


def would_write(plan: Plan) -> Mapping[Intent, tuple[Ref, ...]]:
    """Return the objects that a plan would write, by intent; it leaves the others."""
    found: dict[Intent, list[Ref]] = {}
    taken = {write.ref for write in plan.writes if write.verb is Verb.TAKE_OVER}
    replaced = {write.ref for write in plan.writes if write.verb is Verb.DELETE}
    for one in plan.objects:
        if one.ref in replaced:
            found.setdefault(Intent.REPLACE, []).append(one.ref)
        elif isinstance(one.before, Absent):
            found.setdefault(Intent.CREATE, []).append(one.ref)
        elif one.trial is None:
            found.setdefault(Intent.UNTRIED, []).append(one.ref)
        elif one.ref in taken or _would_change(plan, one):
            found.setdefault(Intent.CHANGE, []).append(one.ref)
    return {intent: tuple(found[intent]) for intent in Intent if intent in found}


def _would_change(plan: Plan, one: PlannedObject) -> bool:
    if not isinstance(one.before, Known) or one.trial is None:
        return True
    is_another = content(one.before.value.body) != content(one.trial.body)
    return is_another or removes_taken_fields(one, plan.writes)
