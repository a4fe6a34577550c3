"""Sends the writes of a leg, each decided when it is sent; `order` says which comes next.

After a conflict or a lost answer the object is read first and the write decided again. On the
way back only what this attempt wrote, and nobody has changed since, is overwritten; `way_out`
decides the writes before.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt, Rejection, Retry, Step
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.protocol.effects import Effect, FindUsers, Read
from gate.core.ssa import field_set
from gate.core.writes.foreign_changes import (
    added_fields,
    fields_of_others,
    foreign_fields,
    has_values_of_others,
    is_extended,
    with_added,
    without_conflicts,
    without_foreign,
)
from gate.core.writes.lost_response import has_landed, has_landed_whole
from gate.core.writes.obstacles import give_up_on_errors
from gate.core.writes.order import answers_lost, sendable, with_at_head
from gate.core.writes.other_users import find_users
from gate.core.writes.removed_owners import owners_to_put_back, stands_unowned
from gate.core.writes.request import build_body, is_refused_still, send, send_body
from gate.core.writes.results import went_back
from gate.core.writes.way_out import next_out

FRESH_SECONDS = 1.0
"""How old the decision to go back may be at the first write before workloads are read again."""


def next_write(attempt: Attempt) -> Step:
    """Return what the next write asks for; the attempt unchanged if all have to wait."""
    if attempt.writes.rejection is not None:
        return attempt, ()
    for ref in sendable(attempt):
        at_head = with_at_head(attempt, ref)
        moved, effects = _at_head(at_head)
        if moved is not at_head:
            return moved, effects
    return attempt, ()


def _at_head(attempt: Attempt) -> Step:
    """Return what the head of the queue asks for; the attempt unchanged if it has to wait."""
    head, retry = attempt.writes.queue[0], attempt.writes.retry
    if retry is not None and not retry.read:
        if attempt.now < attempt.requests.not_before:
            return attempt, ()
        read = Read(attempt.requests.next_id, head.ref, whole_rollout=False)
        return attempt.with_effect(read), (read,)
    if attempt.course.leg is Leg.BACK:
        return _next_back(attempt, head, retry)
    return next_out(attempt, head, retry)


# -- on the way back -------------------------------------------------------------------------------


def _next_back(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Step:
    if head.ref not in attempt.workloads.followed_before:
        moved, effects = _workloads_first(attempt)
        if moved is not attempt or _is_read(moved, _to_go_back(moved)):
            return moved, effects
    if head.verb is Verb.DELETE and head.ref not in attempt.ledger.live:
        gone = attempt.past_head()
        return replace(
            gone, ledger=replace(gone.ledger, deleted=(*gone.ledger.deleted, head.ref))
        ), ()
    if (shown := _find_shown(attempt, head, retry)) is not None:
        written = attempt.ledger.written[head.ref].after
        return went_back(attempt.past_head(), head, written, shown), ()
    is_back = _is_back(attempt, head)
    if not is_back and (given_up := _give_up(attempt, head, retry)) is not None:
        return given_up, ()
    if head.verb is Verb.DELETE and (first := _before_deletion(attempt, head)) is not None:
        return first
    owners = _lost_owners(attempt, head.ref)
    if owners is not None and not is_back:
        return _put_back(attempt, PlannedWrite(head.ref, Verb.TAKE_OVER, owners))
    refused = retry.refused if retry is not None else None
    if refused is not None and is_refused_still(attempt, head, refused):
        return _refused_back(attempt, head, refused)
    if head.verb is Verb.APPLY and not is_back:
        return _send_back(replace(attempt, writes=replace(attempt.writes, retry=None)), head)
    return send(replace(attempt, writes=replace(attempt.writes, retry=None)), head)


def _refused_back(attempt: Attempt, head: PlannedWrite, rejection: Rejection) -> Step:
    """Leave to others what they own now and restore the rest; give up if nothing is left."""
    smaller, others = without_conflicts(head, rejection.paths, attempt.ledger.written.get(head.ref))
    if smaller is None:
        return _with_refusal(attempt, rejection), ()
    attempt = replace(
        attempt,
        writes=replace(attempt.writes, retry=None),
    )
    return _send_back(_with_head(_with_dropped(attempt, head.ref, others), smaller), smaller)


def _with_refusal(attempt: Attempt, rejection: Rejection) -> Attempt:
    """Give the write at the head of the queue up, for a reason that the report names."""
    rejection = replace(rejection, write=attempt.writes.queue[0])
    refusals = attempt.writes.refusals.put(rejection.ref, rejection)
    attempt = attempt.past_head()
    return replace(attempt, writes=replace(attempt.writes, refusals=refusals))


def _give_up(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> Attempt | None:
    """Return the attempt without a write that is not to be sent any more, None for any other.

    Somebody else has its object now, or the server has answered it with errors until the budget
    ended, and a read has just shown that it is not done.
    """
    if not _is_ours(attempt, head.ref):
        return _left_alone(attempt, head.ref)
    doubt = attempt.requests.doubts.get(head.ref)
    if retry is None or not retry.uncertain or retry.refused is not None or doubt is None:
        return None
    if not doubt.answer or attempt.now < attempt.leg_ends_at:
        return None
    return _with_refusal(attempt, give_up_on_errors(attempt, head))


def _workloads_first(attempt: Attempt) -> Step:
    """Check the workloads that go back before anything that goes back with them is written.

    One that somebody else has taken over leaves the attempt before its configuration is changed
    under it. Before the first write they are read again unless the decision is fresh: the process
    may have been suspended since. The attempt is returned unchanged if all are ours.
    """
    going = _to_go_back(attempt)
    stale = attempt.now >= attempt.course.leg_at + FRESH_SECONDS
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
        if not _is_ours(attempt, ref) and not any(_is_back(attempt, write) for write in own):
            others = tuple(write for write in attempt.writes.queue if write.ref != ref)
            return _with_departure(
                replace(attempt, writes=replace(attempt.writes, queue=others)), ref
            ), ()
    return attempt, ()


def _to_go_back(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the workloads whose restoration is still to be written, in order."""
    ahead = dict.fromkeys(write.ref for write in attempt.writes.queue if write.verb is Verb.APPLY)
    return tuple(ref for ref in ahead if ref in attempt.workloads.followed_before)


def _is_read(attempt: Attempt, refs: Collection[Ref]) -> bool:
    """Tell whether a read of any of `refs` is outstanding."""
    return any(
        isinstance(effect, Read) and effect.ref in refs
        for effect in attempt.requests.outstanding.values()
    )


def _send_back(attempt: Attempt, head: PlannedWrite) -> Step:
    """Send the apply that restores an object, except for the fields that others have changed."""
    written, live = attempt.ledger.written.get(head.ref), attempt.ledger.live.get(head.ref)
    if written is None or live is None:
        return send(attempt, head)
    foreign = foreign_fields(head, written, live)
    smaller = head if foreign is None else without_foreign(head, foreign, live)
    if smaller is None:
        followed = head.ref in attempt.workloads.followed_before
        return send(attempt, head) if followed else (_left_alone(attempt, head.ref), ())
    left = field_set.union(foreign, fields_of_others(head, written, live))
    dropped = tuple(f".{path}" for path in field_set.paths(left))
    attempt = _with_dropped(attempt, head.ref, dropped) if dropped else attempt
    attempt = attempt if smaller is head else _with_head(attempt, smaller)
    return _send_with_added(attempt, smaller, written, live)


def _send_with_added(
    attempt: Attempt, head: PlannedWrite, written: WrittenObject, live: LiveObject
) -> Step:
    """Send a restoration with the fields that another run of the gate has added since."""
    added = added_fields(head, written, live)
    if added is None:
        return send(attempt, head)
    larger = with_added(head, added, live)
    paths = attempt.ledger.kept_paths.get(head.ref, ())
    kept = tuple(dict.fromkeys((*paths, *(f".{path}" for path in field_set.paths(added)))))
    attempt = replace(
        attempt,
        ledger=replace(attempt.ledger, kept_paths=attempt.ledger.kept_paths.put(head.ref, kept)),
    )
    return send(_with_head(attempt, larger), larger)


def _with_dropped(attempt: Attempt, ref: Ref, paths: tuple[str, ...]) -> Attempt:
    known = attempt.ledger.dropped_paths.get(ref, ())
    dropped = attempt.ledger.dropped_paths.put(ref, tuple(dict.fromkeys((*known, *paths))))
    return replace(attempt, ledger=replace(attempt.ledger, dropped_paths=dropped))


def _with_head(attempt: Attempt, head: PlannedWrite) -> Attempt:
    return replace(attempt, writes=replace(attempt.writes, queue=(head, *attempt.writes.queue[1:])))


def _lost_owners(attempt: Attempt, ref: Ref) -> Body | None:
    """Return the managed fields to put back before an object is restored, None for none."""
    written, live = attempt.ledger.written.get(ref), attempt.ledger.live.get(ref)
    apply = next(
        (one for one in attempt.writes.queue if one.ref == ref and one.verb is Verb.APPLY), None
    )
    if apply is None or written is None or live is None:
        return None
    if ref in attempt.writes.refusals or attempt.now >= attempt.leg_ends_at:
        return None
    return owners_to_put_back(apply, written, live, foreign_fields(apply, written, live))


def _put_back(attempt: Attempt, owners: PlannedWrite) -> Step:
    """Send managed fields as they were, before the apply that the queue begins with."""
    attempt = replace(
        attempt, writes=replace(attempt.writes, queue=(owners, *attempt.writes.queue), retry=None)
    )
    return send_body(attempt, owners, owners.body)


def _find_shown(attempt: Attempt, head: PlannedWrite, retry: Retry | None) -> LiveObject | None:
    """Return the object that shows by a read that a write back is done, None if none does.

    A lost answer is not waited for again: every earlier request has an older `resourceVersion`,
    so that none of them can undo it.
    """
    if retry is None or not retry.uncertain or head.verb is not Verb.APPLY:
        return None
    live, written = attempt.ledger.live.get(head.ref), attempt.ledger.written.get(head.ref)
    if live is None or written is None or live.uid != written.after.uid:
        return None
    return live if _has_landed_back(attempt, head, live) else None


def _has_landed_back(attempt: Attempt, head: PlannedWrite, live: LiveObject) -> bool:
    """Tell whether `live` is what a write back leaves.

    Where the way out left the same template, only all that our manager owns can show it.
    """
    written = attempt.ledger.written.get(head.ref)
    was_changed = written is None or not has_landed(head, written.after, trial=None)
    if was_changed and has_landed(head, live, trial=None):
        return True
    sent = build_body(attempt, head, live)
    return sent is not None and has_landed_whole(head, sent, live)


def _is_back(attempt: Attempt, head: PlannedWrite) -> bool:
    """Tell whether a write back is done already; sent again, it does nothing.

    A load balancer delivered the request twice and this is the answer to the second delivery, or
    its answer was lost and its owners are gone since: sent again, it owns its fields again.
    """
    live, written = attempt.ledger.live.get(head.ref), attempt.ledger.written.get(head.ref)
    if live is None or head.verb is not Verb.APPLY:
        return False
    if _has_landed_back(attempt, head, live):
        return True
    is_uncertain = head.ref in answers_lost(attempt)
    return is_uncertain and written is not None and stands_unowned(head, written, live)


def _is_ours(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what this attempt wrote to `ref` is still there, by all that is known.

    For a workload the pod template counts. Another object only has to exist: which of its
    fields others have changed is found out when the write is sent.
    """
    live, written = attempt.ledger.live.get(ref), attempt.ledger.written.get(ref)
    if live is None or written is None or live.uid != written.after.uid:
        return False
    rollout, snapshot = (
        attempt.workloads.followed_before.get(ref),
        attempt.workloads.snapshots.get(ref),
    )
    if rollout is None or live.workload is None:
        return True
    if snapshot is not None and isinstance(snapshot.workload, Absent):
        return False
    seen = [live.workload]
    if snapshot is not None and snapshot.live is not None:
        seen.append(snapshot.live)
    return all(one.uid == live.uid and not one.deleting and rollout.still_ours(one) for one in seen)


def _before_deletion(attempt: Attempt, head: PlannedWrite) -> Step | None:
    """Return what comes before a deletion, None if nothing is in its way.

    What others have put into it is left to them. They may use by then what this attempt created
    beside the workloads: their locks show that, too.
    """
    written, live = attempt.ledger.written[head.ref], attempt.ledger.live[head.ref]
    is_followed = head.ref in attempt.workloads.followed_before
    if (has_values_of_others if is_followed else is_extended)(head, written, live):
        return _left_alone(attempt, head.ref), ()
    if is_followed:
        return None
    moved, effects = find_users(attempt)
    is_asked = moved is not attempt or moved.awaits(FindUsers)
    return (moved, effects) if is_asked else None


def _left_alone(attempt: Attempt, ref: Ref) -> Attempt:
    """Step back from an object that somebody else has changed or deleted since."""
    attempt = attempt.past_head()
    if ref not in attempt.workloads.followed_before:
        return replace(
            attempt, ledger=replace(attempt.ledger, left_alone=(*attempt.ledger.left_alone, ref))
        )
    return _with_departure(attempt, ref)


def _with_departure(attempt: Attempt, ref: Ref) -> Attempt:
    """Leave a workload to whoever has changed or deleted it before its way back was written."""
    here = attempt.ledger.written[ref].after.uid == _uid_now(attempt, ref)
    reason, did = (Reason.SUPERSEDED, "changed") if here else (Reason.DELETED, "deleted")
    message = CleanText(f"somebody else {did} it before the rollback was written")
    ending = Ending(Outcome.SUPERSEDED, reason, message)
    departures = attempt.interference.departures.put(ref, ending)
    return replace(
        attempt,
        interference=replace(attempt.interference, departures=departures, departed_at=attempt.now),
    )


def _uid_now(attempt: Attempt, ref: Ref) -> str:
    """Return the uid of the present object by the watches, else by the latest read, or ""."""
    snapshot, live = attempt.workloads.snapshots.get(ref), attempt.ledger.live.get(ref)
    if snapshot is not None and not isinstance(snapshot.workload, Unknown):
        return snapshot.live.uid if snapshot.live is not None else ""
    return live.uid if live is not None else ""
