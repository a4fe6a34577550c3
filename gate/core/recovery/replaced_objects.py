"""What a dead gate deleted so that it could be created again, as a Job that had failed before."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.record import Record


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


def find_not_replaced(record: Record, found: LiveFacts) -> tuple[Ref, ...]:
    """Return what was deleted, and not created again before the gate died."""
    replaced = (one.ref for one in record.followed if one.is_replaced)
    return tuple(ref for ref in replaced if isinstance(found[ref], Absent))


def _uid_of(fact: Fact[LiveObject]) -> str:
    return fact.value.uid if isinstance(fact, Known) else ""
