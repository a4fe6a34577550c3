"""What the attempt of a record had written, as the ledger of its own gate would have it."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.plan.record import Kept
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.recovery.object_state import ObjectState, classify_object
from gate.core.ssa.managed_fields import is_creator


def collect_written(plan: Plan) -> FrozenMap[Ref, WrittenObject]:
    """Return what the attempt had written, as its own ledger would have it."""
    if plan.resumed is None:
        return FrozenMap()
    kept = {one.ref: one for one in plan.resumed.record.objects}
    lives = plan.resumed.written.items()
    return FrozenMap(
        (ref, _written_object(kept[ref], live, is_returned=plan.find_returned(ref) is not None))
        for ref, live in lives
    )


def _written_object(kept: Kept, live: LiveObject, *, is_returned: bool) -> WrittenObject:
    if isinstance(kept.before, Unknown) and not kept.changes:
        # It existed and our write changed nothing: what is live stands for what was not kept.
        return WrittenObject(live, live, kept.forced, kept.scaler, kept.field_manager)
    before = kept.before.value if isinstance(kept.before, Known) else None
    if kept.changes and classify_object(kept, Known(live)) is ObjectState.BEFORE:
        # A member of the set that is not restored yet: what was not left so is somebody else's.
        found = before or live
        found = replace(found, resource_version="", workload=live.workload)
        return WrittenObject(before, found, kept.forced, kept.scaler, kept.field_manager)
    after = _as_left(kept, live)
    if is_returned and isinstance(kept.expected, LiveObject):
        # What is live is what the way back left; the way out left what its dry run shows.
        after = replace(kept.expected, uid=live.uid)
    written = WrittenObject(before, after, kept.forced, kept.scaler, kept.field_manager)
    if not isinstance(kept.before, Absent) or not written.created:
        return written
    # No answer (201 or 200) is kept: if no other manager owns a field of it, the dead gate made it.
    return replace(written, is_created=Known(written.created))


def _as_left(kept: Kept, live: LiveObject) -> LiveObject:
    """Return an object as our write left it, by the dry run of that write if the record has one.

    Compared with what is live, this shows what others have changed since. A workload keeps what
    its rollout is judged by: where others changed that, it is none that our attempt goes on with.
    """
    if not isinstance(kept.expected, LiveObject):
        return live
    after = replace(kept.expected, uid=live.uid, resource_version="", workload=live.workload)
    if isinstance(kept.before, Absent) and not is_creator(
        live.body.thaw(), live.thaw_managed_fields(), kept.field_manager
    ):
        # Somebody else may have created it just before our write: its owners show that.
        after = replace(after, managed=live.managed)
    return after
