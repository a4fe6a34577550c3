"""Decides the writes of the way out, each when it is sent or read again.

A write is refused if somebody changed its object since the preflight.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.parts import Rejection, Retry
from gate.core.attempt.state import Attempt, Step
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedWrite, plan_to_take_back
from gate.core.writes.additions import is_left
from gate.core.writes.lost_needs import find_dropped
from gate.core.writes.obstacles import is_done, out_of_time, substance, why_not_written
from gate.core.writes.recreation import find_before
from gate.core.writes.request import is_refused_still, send
from gate.core.writes.results import note_write
from gate.core.writes.taken_by_others import leave_after_lost_answer


def next_out(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Step:
    """Return what the write at the head asks for: it is sent, known to be done, or given up."""
    if head.ref in attempt.interference.departures or head.ref in find_dropped(attempt):
        return attempt.past_head(), ()
    if head.verb is Verb.DELETE:
        return _next_deletion(attempt, head)
    if retry is not None and retry.uncertain:
        live = attempt.ledger.live.get(head.ref)
        if live is not None and is_done(attempt, head, live):
            return note_write(attempt.past_head(), head, live), ()
        unsafe = head.force or _is_gone(attempt, head.ref)
        if unsafe and is_theirs(attempt, head.ref):
            return leave_after_lost_answer(attempt, head.ref), ()
    refused = retry.refused if retry is not None else None
    if refused is not None and is_refused_still(attempt, head, refused):
        return refused_for_good(attempt, refused), ()
    obstacle = why_not_written(attempt, head, retry)
    if obstacle is not None:
        return given_up(attempt, obstacle), ()
    return send(attempt, head)


def _next_deletion(attempt: Attempt, head: PlannedWrite) -> Step:
    """Delete what another object of its name replaces, unless somebody else has replaced it."""
    live, before = attempt.ledger.live.get(head.ref), attempt.plan.before(head.ref)
    if live is None:
        gone = attempt.past_head()
        deleted = (*gone.ledger.deleted, head.ref)
        return replace(gone, ledger=replace(gone.ledger, deleted=deleted)), ()
    if before is None or live.uid != before.uid:
        text = CleanText("somebody else replaced it since it was read")
        return given_up(attempt, Rejection(head.ref, Reason.CONFLICT, text)), ()
    if attempt.now >= attempt.leg_ends_at:
        return given_up(attempt, out_of_time(attempt, head.ref)), ()
    return send(attempt, head)


def is_theirs(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether somebody else changed, created or deleted a workload since the preflight.

    What they set beside what our write sets (`is_left`) makes it nobody else's.
    """
    if not any(target.ref == ref for target in attempt.plan.targets):
        return False
    live, before = attempt.ledger.live.get(ref), find_before(attempt, ref)
    if live is None or before is None:
        return live is not before
    if live.uid != before.uid:
        return True
    return substance(live) != substance(before) and not is_left(attempt, ref)


def became_theirs(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether somebody else changed a workload before this attempt got to write it."""
    unwritten = ref not in attempt.ledger.written and attempt.plan.resumed is None
    planned = any(write.ref == ref for write in attempt.plan.writes)
    return unwritten and planned and (is_theirs(attempt, ref) or _is_seen_changed(attempt, ref))


def _is_seen_changed(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a watch shows another pod template, or another object, than the preflight saw.

    A pause, or a number of replicas, is no version of somebody else's.
    """
    before, rollout = attempt.plan.before(ref), attempt.workloads.rollouts.get(ref)
    snapshot = rollout.snapshot if rollout is not None else attempt.workloads.snapshots.get(ref)
    live = snapshot.live if snapshot is not None else None
    if before is None or before.workload is None or live is None:
        return False
    templates = [before.workload.template.body]
    read = attempt.ledger.live.get(ref)
    if read is not None and read.workload is not None and is_left(attempt, ref):
        templates.append(read.workload.template.body)
    return live.uid != before.uid or live.template.body not in templates


def _is_gone(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the object of before is gone; there may be another one of its name."""
    live, before = attempt.ledger.live.get(ref), find_before(attempt, ref)
    return before is not None and (live is None or live.uid != before.uid)


def refused_for_good(attempt: Attempt, rejection: Rejection) -> Attempt:
    """End the way out with a write that the server refused.

    If the answer to an earlier try was lost and somebody else has changed the workload, it is
    left to them instead, whether or not our write came before that.
    """
    if attempt.writes.uncertain and is_theirs(attempt, rejection.ref):
        return leave_after_lost_answer(attempt, rejection.ref)
    return given_up(attempt, rejection)


def given_up(attempt: Attempt, rejection: Rejection) -> Attempt:
    """Return the attempt whose way out ends with a write that cannot be done."""
    plan = plan_to_take_back(attempt.plan)
    return replace(
        attempt, plan=plan, writes=replace(attempt.writes, rejection=rejection, retry=None)
    )
