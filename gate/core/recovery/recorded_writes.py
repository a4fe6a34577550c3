"""What the attempt of a record had written, as the ledger of its own gate would have it."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.plan.record import Kept
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.recovery.object_state import ObjectState, classify_object
from gate.core.writes.removed_owners import are_owners_removed


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
    before = kept.before.value if isinstance(kept.before, Known) else None
    if kept.changes and classify_object(kept, Known(live)) is ObjectState.BEFORE:
        # A member of the set that is not restored yet: what is there now is ours, or untouched.
        return WrittenObject(before, live, kept.forced, kept.scaler, kept.field_manager)
    after = live
    if isinstance(kept.expected, LiveObject) and live.workload is None:
        # Compared with what our write left, this shows what others have changed since.
        after = replace(kept.expected, uid=live.uid, resource_version="")
        if isinstance(kept.before, Absent):
            # Somebody else may have created it just before our write: its owners show that.
            after = replace(after, managed=live.managed)
    if live.workload is not None and isinstance(kept.expected, LiveObject):
        after = _as_expected(kept.expected, live, kept.field_manager)
        # What is live is what the way back left; the way out left what its dry run shows.
        after = replace(kept.expected, uid=live.uid) if is_returned else after
    written = WrittenObject(before, after, kept.forced, kept.scaler, kept.field_manager)
    # No answer (201 or 200) is kept: if no other manager owns a field of it, the dead gate made it.
    is_created = Known(written.created)
    return replace(written, is_created=is_created) if written.created else written


def _as_expected(expected: LiveObject, live: LiveObject, manager: str) -> LiveObject:
    """Return a workload as our write left it: its live state while that shows its field owners.

    If somebody has removed all managed fields, the server's dry run of our write shows instead who
    owned which field and what others have changed.
    """
    after = replace(expected, uid=live.uid)
    if not are_owners_removed(manager, after, live):
        return live
    return replace(live, body=expected.body, managed=expected.managed, resource_version="")
