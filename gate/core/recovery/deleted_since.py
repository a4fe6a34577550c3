"""What an attempt on its way out had created and somebody has deleted since."""

from __future__ import annotations

from collections.abc import Mapping

from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Absent
from gate.core.model.live_object import LiveFacts
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.phases import NO_NEEDS, order_by_phase
from gate.core.plan.record import Record
from gate.core.recovery.object_state import ObjectState, trial


def find_deleted_by_others(
    record: Record, found: LiveFacts, states: Mapping[Ref, ObjectState]
) -> tuple[Ref, ...]:
    """Return what is not there although a workload behind it was written.

    A gate writes one object after the other. None of what runs once, which goes after its end, and
    none on the way back, which deletes what was created.
    """
    if record.leg is not Leg.FORWARD:
        return ()
    phases = {one.ref: one.phase for one in record.followed}
    order = order_by_phase((one.ref for one in record.objects), phases, NO_NEEDS)
    known = {
        one.ref
        for one in record.objects
        if states[one.ref] is ObjectState.WRITTEN and one.changes and trial(one) is not None
    }
    created = {one.ref for one in record.objects if isinstance(one.before, Absent)}
    last = max((order.index(ref) for ref in known & phases.keys()), default=0)
    return tuple(
        ref
        for ref in order[:last]
        if ref in created and isinstance(found[ref], Absent) and has_way_back(ref)
    )
