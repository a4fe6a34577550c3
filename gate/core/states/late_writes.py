"""Writes that no answer showed to be done, and that a server may still do while all goes back.

A gate that died, or stopped waiting, cannot call them back. So what such a write is about is read
once more at the end: where it was done after all, not everything is back.
"""

from __future__ import annotations

from gate.core.attempt.new_rollout import applied_of
from gate.core.attempt.record import record_of
from gate.core.attempt.state import Attempt
from gate.core.model.body import Body, contains
from gate.core.model.fact import Fact, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Workload
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.record import Kept
from gate.core.recovery.object_state import ObjectState, classify_object, trial
from gate.core.writes.lost_response import has_landed
from gate.core.writes.order import answers_lost


def find_open_writes(attempt: Attempt) -> tuple[Ref, ...]:
    """Return what may still be written, of an attempt that went back."""
    if attempt.course.leg is not Leg.BACK:
        return ()
    known = {*attempt.ledger.left, *attempt.ledger.left_to_others, *attempt.writes.refusals}
    return tuple(
        kept.ref
        for kept in record_of(attempt.plan).objects
        if kept.changes and kept.ref not in known and _is_open(attempt, kept)
    )


def is_written_late(attempt: Attempt, ref: Ref, fact: Fact[LiveObject]) -> bool:
    """Tell whether what was read of `ref` is as our write leaves it.

    Of a workload our manager has to own that too: others may apply the same version.
    """
    kept = next(one for one in record_of(attempt.plan).objects if one.ref == ref)
    if not isinstance(fact, Known) or classify_object(kept, fact) is not ObjectState.WRITTEN:
        return False
    return fact.value.workload is None or _has_landed(kept, fact.value)


def has_version_of_open_write(attempt: Attempt, ref: Ref, live: Workload) -> bool:
    """Tell whether a watch shows the version of a write that may be under way.

    Watches do not say who owns what, so that others may have written the same.
    """
    if ref not in find_open_writes(attempt):
        return False
    kept = next(one for one in record_of(attempt.plan).objects if one.ref == ref)
    if kept.uid and live.uid != kept.uid:
        return False
    dry_run = trial(kept)
    if dry_run is not None and dry_run.workload is not None:
        return applied_of(0.0, None, dry_run, kept.field_manager).still_stands(live)
    sent = kept.expected.thaw() if isinstance(kept.expected, Body) else {}
    template = sent.get("spec", {}).get("template")
    return template is not None and contains(template, live.template.body.thaw())


def _has_landed(kept: Kept, live: LiveObject) -> bool:
    dry_run = trial(kept)
    body = kept.expected if isinstance(kept.expected, Body) else live.body
    if kept.expected is None:
        return False
    head = PlannedWrite(kept.ref, Verb.APPLY, body, kept.field_manager, scaler=kept.scaler)
    return has_landed(head, live, dry_run)


def _is_open(attempt: Attempt, kept: Kept) -> bool:
    """Tell whether a write may be under way: its gate died before it said, or lost its answer."""
    resumed = attempt.plan.resumed
    if resumed is None:
        return kept.ref in answers_lost(attempt)
    if kept.ref in resumed.unkept or kept.ref in resumed.departed:
        return False
    is_out = resumed.record.leg is Leg.FORWARD
    return is_out or kept.reach.is_open or kept.reach.is_in_doubt
