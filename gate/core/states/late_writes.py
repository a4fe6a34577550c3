"""Writes that no answer showed to be done, and that a server may still do while all goes back.

A gate that died, or stopped waiting, cannot call them back. So what such a write is about is read
once more at the end: where it was done after all, not everything is back.
"""

from __future__ import annotations

from gate.core.attempt.journal import record_of
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Fact, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.journal_record import Kept
from gate.core.plan.leg import Leg
from gate.core.recovery.object_state import ObjectState, classify_object
from gate.core.writes.order import answers_lost


def find_open_writes(attempt: Attempt) -> tuple[Ref, ...]:
    """Return what may still be written, of an attempt that went back.

    Workloads are not among them: each is followed, so that its changes are seen.
    """
    if attempt.course.leg is not Leg.BACK:
        return ()
    followed = {target.ref for target in attempt.plan.targets}
    known = {*followed, *attempt.ledger.left, *attempt.ledger.left_alone, *attempt.writes.refusals}
    return tuple(
        kept.ref
        for kept in record_of(attempt.plan).objects
        if kept.changes and kept.ref not in known and _is_open(attempt, kept)
    )


def is_written_late(attempt: Attempt, ref: Ref, fact: Fact[LiveObject]) -> bool:
    """Tell whether what was read of `ref` is as our write leaves it."""
    kept = next(one for one in record_of(attempt.plan).objects if one.ref == ref)
    return isinstance(fact, Known) and classify_object(kept, fact) is ObjectState.WRITTEN


def _is_open(attempt: Attempt, kept: Kept) -> bool:
    """Tell whether a write may be under way: its gate died before it said, or lost its answer."""
    resumed = attempt.plan.resumed
    if resumed is None:
        return kept.ref in answers_lost(attempt)
    if kept.ref in resumed.unkept:
        return False
    is_out = resumed.record.leg is Leg.FORWARD
    return is_out or kept.reach.is_open or kept.reach.is_in_doubt
