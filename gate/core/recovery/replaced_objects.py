"""What a dead gate deleted so that it could be created again, as a Job that had failed before."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.record import Kept, Record, Resumed


def without_replaced(record: Record, found: LiveFacts) -> Record:
    """Return the record with what the attempt itself deleted as if it had never been there.

    The object of that name, if there is one, is what it created in its place.
    """
    replaced = {one.ref for one in record.followed if one.is_replaced}
    return replace(
        record,
        objects=tuple(
            replace(kept, before=Absent(), uid="", resource_version="")
            if kept.ref in replaced and _uid_of(found[kept.ref]) != kept.uid
            else kept
            for kept in record.objects
        ),
    )


def find_not_replaced(resumed: Resumed, found: LiveFacts) -> tuple[Ref, ...]:
    """Return what was deleted, and not created again before the gate died.

    Not what may have been created, and have gone since by its time to live.
    """
    record, written = resumed.record, {*resumed.written, *resumed.unkept}
    replaced = {one.ref for one in record.followed if one.is_replaced}
    ran = record.find_sent(written) | record.find_passed(written)
    return tuple(
        kept.ref
        for kept in record.objects
        if kept.ref in replaced - ran and isinstance(found[kept.ref], Absent)
        if record.has_come_to(kept.ref, written) and not _may_have_gone(kept)
    )


def _may_have_gone(kept: Kept) -> bool:
    """Tell whether what is not there may have been created: the way back knows what was not."""
    is_open = kept.goes_after_end and not kept.reach.is_unreached
    return is_open or kept.reach.is_in_doubt


def _uid_of(fact: Fact[LiveObject]) -> str:
    return fact.value.uid if isinstance(fact, Known) else ""
