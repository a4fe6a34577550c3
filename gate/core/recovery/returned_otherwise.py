"""Restorations of a gate that died which admission may have rewritten, so that they look foreign.

Who owns a field does not tell that: another run of the gate writes under our manager's name, too.
What does is the server's answer to the same restoration, sent once more as a dry run.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan, PlannedWrite
from gate.core.plan.record import Kept
from gate.core.plan.rollback_plan import WrittenObject, writes_back
from gate.core.recovery.recorded_writes import collect_written
from gate.core.writes.lost_response import has_landed_rewritten


def list_doubtful(plan: Plan) -> tuple[PlannedWrite, ...]:
    """Return the restorations of workloads that a recovery would leave to others, as first planned.

    None of one that the record does not keep, that is gone, or that the way out did not reach.
    """
    resumed = plan.resumed
    if resumed is None or resumed.record.leg is not Leg.BACK:
        return ()
    left = {
        kept.ref: written
        for kept in resumed.record.objects
        if kept.ref in resumed.departed and (written := _as_written(kept)) is not None
    }
    failed = frozenset(one.ref for one in resumed.record.followed if one.why)
    back = writes_back(plan, {**collect_written(plan), **left}, frozenset(), failed)
    return tuple(one for one in back if one.ref in left and one.verb is Verb.APPLY)


def is_returned(plan: Plan, head: PlannedWrite, live: LiveObject, answer: LiveObject) -> bool:
    """Tell whether `live` is what `head` leaves, by the `answer` to its dry run."""
    resumed = plan.resumed
    objects = resumed.record.objects if resumed is not None else ()
    out = next((_as_written(one) for one in objects if one.ref == head.ref), None)
    return out is not None and has_landed_rewritten(head, live, answer, way_out=out.after)


def _as_written(kept: Kept) -> WrittenObject | None:
    """Return what the way out left of an object, None if that is not known."""
    if not isinstance(kept.before, Known) or not isinstance(kept.expected, LiveObject):
        return None
    if not kept.reach.is_known_written:
        return None
    after = replace(kept.expected, uid=kept.uid)
    return WrittenObject(kept.before.value, after, kept.forced, kept.scaler, kept.field_manager)
