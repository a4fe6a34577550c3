"""What a gate that died on its way back had created and then deleted, by its record.

Such an object is no longer live. It counts as deleted by that attempt only if the record says
that it was written and the attempt's way back deletes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.plan.record import Kept, Resumed
from gate.core.plan.rollback_plan import WrittenObject, writes_back


def find_deleted(
    plan: Plan, resumed: Resumed, written: Mapping[Ref, WrittenObject]
) -> dict[Ref, WrittenObject]:
    """Return the deleted objects as their creation left them; `written` are those still live."""
    record = resumed.record
    if record.leg is Leg.FORWARD:
        return {}
    found = {*resumed.written, *resumed.unkept, *resumed.restored}
    found |= {*resumed.departed, *resumed.left_to_others}
    gone = {
        kept.ref: _as_created(kept, kept.expected)
        for kept in record.objects
        if kept.ref not in found and isinstance(kept.before, Absent) and kept.reach.is_known_written
        if isinstance(kept.expected, LiveObject)
    }
    failed = frozenset(one.ref for one in record.followed if one.why)
    back = writes_back(plan, {**written, **gone}, frozenset(resumed.departed), failed)
    deleted = {write.ref for write in back if write.verb is Verb.DELETE}
    return {ref: one for ref, one in gone.items() if ref in deleted}


def _as_created(kept: Kept, expected: LiveObject) -> WrittenObject:
    """Return an object as the dry run showed it would be created; its real uid is not known."""
    after = replace(expected, uid="", resource_version="")
    created = Known(value=True)
    return WrittenObject(None, after, kept.forced, kept.scaler, kept.field_manager, created)
