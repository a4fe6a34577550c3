"""Decides the writes of the way back, each when it is sent or read again.

Only what this attempt wrote, and nobody has changed since, is overwritten.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.parts import Rejection, Retry
from gate.core.attempt.state import Attempt, Step
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.plan.plan import PlannedWrite
from gate.core.protocol.effects import Effect, FindUsers, Read, SaveRecord, Write
from gate.core.writes.foreign_changes import has_values_of_others, is_extended, without_conflicts
from gate.core.writes.obstacles import give_up_on_errors
from gate.core.writes.other_users import find_users
from gate.core.writes.request import is_refused_still, send
from gate.core.writes.restoration import (
    lost_owners,
    put_back,
    send_back,
    send_fitting,
    with_dropped,
    with_dropped_now,
    with_head,
)
from gate.core.writes.results import note_return
from gate.core.writes.return_progress import find_shown, find_trial, is_back, is_ours
from gate.core.writes.taken_by_others import leave_object, leave_workload

DECISION_FRESH_SECONDS = 1.0
"""How old the decision to go back may be at the first write before workloads are read again."""


def next_back(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Step:
    """Return what the write at the head asks for: it is sent, known to be done, or given up."""
    if head.ref not in attempt.workloads.followed_before:
        moved, effects = _workloads_first(attempt)
        if moved is not attempt or moved.awaits_read(_to_go_back(moved)):
            return moved, effects
    if head.verb is Verb.DELETE and head.ref not in attempt.ledger.live:
        gone = attempt.past_head()
        return replace(
            gone, ledger=replace(gone.ledger, deleted=(*gone.ledger.deleted, head.ref))
        ), ()
    if (shown := find_shown(attempt, head, retry)) is not None:
        written = attempt.ledger.written[head.ref].after
        known = with_dropped_now(attempt, head, shown)
        return note_return(known.past_head(), head, written, shown), ()
    has_returned = is_back(attempt, head)
    if not has_returned and (instead := _step_back(attempt, head, retry)) is not None:
        return instead
    if not has_returned and (first := _before_write(attempt, head)) is not None:
        return first
    refused = retry.refused if retry is not None else None
    if not has_returned and (first := _owners_first(attempt, head.ref, refused)) is not None:
        return first
    if refused is not None and is_refused_still(attempt, head, refused):
        return _refused_back(attempt, head, refused)
    if head.verb is Verb.APPLY and not has_returned:
        return send_back(replace(attempt, writes=replace(attempt.writes, retry=None)), head)
    return send(replace(attempt, writes=replace(attempt.writes, retry=None)), head)


def _refused_back(attempt: Attempt, head: PlannedWrite, rejection: Rejection) -> Step:
    """Leave to others what they own now and restore the rest; give up if nothing is left.

    What the server does not accept beside their values is left out as well: the pods are to return.
    """
    smaller, others = without_conflicts(head, rejection.paths, attempt.ledger.written.get(head.ref))
    if smaller is None:
        fitting = send_fitting(attempt, head, rejection)
        return (_with_refusal(attempt, rejection), ()) if fitting is None else fitting
    attempt = replace(
        attempt,
        writes=replace(attempt.writes, retry=None),
    )
    return send_back(with_head(with_dropped(attempt, head.ref, others), smaller), smaller)


def _with_refusal(attempt: Attempt, rejection: Rejection) -> Attempt:
    """Give the write at the head of the queue up, for a reason that the report names."""
    rejection = replace(rejection, write=attempt.writes.queue[0])
    refusals = attempt.writes.refusals.put(rejection.ref, rejection)
    attempt = attempt.past_head()
    return replace(attempt, writes=replace(attempt.writes, refusals=refusals))


def _owners_first(attempt: Attempt, ref: Ref, refused: Rejection | None) -> Step | None:
    """Return what puts managed fields back before a restoration, None if none were removed.

    Where the server refuses that for good, the restoration is given up.
    """
    owners = lost_owners(attempt, ref)
    if owners is None:
        return None
    if refused is None or refused.body != owners:
        return put_back(attempt, PlannedWrite(ref, Verb.TAKE_OVER, owners))
    queue = attempt.writes.queue
    restoration = next(one for one in queue if one.ref == ref and one.verb is Verb.APPLY)
    others = tuple(one for one in queue if one.ref != ref)
    writes = replace(attempt.writes, queue=(restoration, *others))
    return _with_refusal(replace(attempt, writes=writes), refused), ()


def _step_back(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Step | None:
    """Return what comes in place of a write that is not to be sent now, None if it is.

    Somebody else has its object now, if the server does not say that our write left it so; or the
    server has answered it with errors until the budget ended, and a read has just shown that it is
    not done.
    """
    if not is_ours(attempt, head.ref):
        tries = find_trial(attempt, head, retry)
        return (leave_object(attempt, head.ref), ()) if tries is None else _try(attempt, tries)
    doubt = attempt.requests.doubts.get(head.ref)
    if retry is None or not retry.uncertain or retry.refused is not None or doubt is None:
        return None
    if not doubt.answer or attempt.now < attempt.leg_ends_at:
        return None
    return _with_refusal(attempt, give_up_on_errors(attempt, head)), ()


def _try(attempt: Attempt, tries: Write) -> Step:
    """Read an object again, and ask the server what it would make of its restoration."""
    read = Read(attempt.requests.next_id, tries.ref, whole_rollout=False, tries=tries)
    again = replace(attempt.writes, retry=Retry(uncertain=True))
    return replace(attempt, writes=again).with_effect(read), (read,)


def _workloads_first(attempt: Attempt) -> Step:
    """Check the workloads that go back before anything that goes back with them is written.

    One that somebody else has taken over leaves the attempt before its configuration is changed
    under it. Before the first write they are read again unless the decision is fresh: the process
    may have been suspended since. The attempt is returned unchanged if all are ours.
    """
    going = _to_go_back(attempt)
    stale = attempt.now >= attempt.course.leg_at + DECISION_FRESH_SECONDS
    if (
        attempt.writes.rollback_written_at is None
        and attempt.requests.reread_at < attempt.course.leg_at
        and stale
    ):
        attempt = replace(attempt, requests=replace(attempt.requests, reread_at=attempt.now))
        effects: list[Effect] = []
        for ref in going:
            read = Read(attempt.requests.next_id, ref, whole_rollout=False)
            effects.append(read)
            attempt = attempt.with_effect(read)
        return attempt, tuple(effects)
    for ref in going:
        own = [write for write in attempt.writes.queue if write.ref == ref]
        if not is_ours(attempt, ref) and not any(is_back(attempt, write) for write in own):
            others = tuple(write for write in attempt.writes.queue if write.ref != ref)
            return leave_workload(
                replace(attempt, writes=replace(attempt.writes, queue=others)), ref
            ), ()
    return attempt, ()


def _to_go_back(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the workloads whose restoration is still to be written, in order."""
    ahead = dict.fromkeys(write.ref for write in attempt.writes.queue if write.verb is Verb.APPLY)
    return tuple(ref for ref in ahead if ref in attempt.workloads.followed_before)


def _before_write(attempt: Attempt, head: PlannedWrite) -> Step | None:
    """Return what comes before a write, None if nothing is in its way.

    Another run may have verified its workload with configuration as this attempt left it, or have
    left to this attempt what both had brought. That is known before the first write.
    """
    if head.verb is Verb.DELETE:
        return _before_deletion(attempt, head)
    return _users_first(attempt, Verb.APPLY)


def _users_first(attempt: Attempt, verb: Verb) -> Step | None:
    """Return what asks who else uses the objects of these writes, None if that is known.

    What it changes of the way back is in the record before that is written.
    """
    moved, effects = find_users(attempt, verb)
    is_awaited = moved.awaits(FindUsers) or moved.awaits(SaveRecord)
    return (moved, effects) if moved is not attempt or is_awaited else None


def _before_deletion(attempt: Attempt, head: PlannedWrite) -> Step | None:
    """Return what comes before a deletion, None if nothing is in its way.

    What others have put into it is left to them. They may use by then what this attempt created
    beside the workloads: their locks show that, too.
    """
    written, live = attempt.ledger.written[head.ref], attempt.ledger.live[head.ref]
    is_followed = head.ref in attempt.workloads.followed_before
    if (has_values_of_others if is_followed else is_extended)(head, written, live):
        return leave_object(attempt, head.ref), ()
    return _users_first(attempt, Verb.APPLY if is_followed else Verb.DELETE)
