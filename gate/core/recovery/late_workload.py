"""A write of a workload that arrives after a way back was begun without it.

That way back restores what was before, since it found no workload that the attempt had changed. If
the server does the write after all, pods start from a version that is to return to the set.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Fact, Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.plan.phases import Phase
from gate.core.plan.record import Kept, Record
from gate.core.recovery.object_state import ObjectState, classify_object


def with_set_of_late_workload(record: Record, found: LiveFacts) -> Record:
    """Return the record with its set in force again if a workload is found as the attempt wrote it.

    The rest of the record is as it was.
    """
    target_set = record.target_set
    if not target_set.is_set_aside or not _has_late_workload(record, found):
        return record
    return replace(record, target_set=replace(target_set, is_set_aside=False))


def _has_late_workload(record: Record, found: LiveFacts) -> bool:
    decisive = {
        one.ref
        for one in record.followed
        if has_way_back(one.ref) and one.phase is not Phase.BEFORE
    }
    return any(_is_late(kept, found[kept.ref]) for kept in record.objects if kept.ref in decisive)


def _is_late(kept: Kept, fact: Fact[LiveObject]) -> bool:
    may_arrive = kept.changes and not kept.reach.is_unreached and isinstance(kept.before, Known)
    return may_arrive and classify_object(kept, fact) is ObjectState.WRITTEN
