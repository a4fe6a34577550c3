"""Sends the apply that restores an object, without what others have changed in it since."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.dropped_fields import DroppedFields
from gate.core.attempt.parts import Rejection
from gate.core.attempt.state import Attempt, Step
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.ssa import field_set
from gate.core.writes.foreign_changes import (
    added_fields,
    fields_of_others,
    find_changed_paths,
    foreign_fields,
    with_added,
    without_foreign,
    without_unfit,
)
from gate.core.writes.removed_owners import owners_to_put_back
from gate.core.writes.request import send, send_body
from gate.core.writes.taken_by_others import leave_object


def send_back(attempt: Attempt, head: PlannedWrite) -> Step:
    """Send the apply that restores an object, except for the fields that others have changed."""
    written, live = attempt.ledger.written.get(head.ref), attempt.ledger.live.get(head.ref)
    if written is None or live is None:
        return send(attempt, head)
    foreign = foreign_fields(head, written, live)
    smaller = head if foreign is None else without_foreign(head, foreign, live)
    if smaller is None:
        followed = head.ref in attempt.workloads.followed_before
        return send(attempt, head) if followed else (leave_object(attempt, head.ref), ())
    others = fields_of_others(head, written, live)
    left = field_set.union(foreign, others)
    dropped = tuple(f".{path}" for path in field_set.paths(left))
    attempt = with_dropped(attempt, head.ref, dropped)
    attempt = attempt if smaller is head else with_head(attempt, smaller)
    return _send_with_added(attempt, smaller, written, live)


def send_fitting(attempt: Attempt, head: PlannedWrite, refused: Rejection) -> Step | None:
    """Send a refused restoration again without what may not fit to what others have changed.

    None where that changes nothing of it: others have changed nothing beside the pod template, or
    the server refuses it without all that, too. None as well for what is no apply of fields: a
    deletion, a pause, a change of owners.
    """
    written, live = attempt.ledger.written.get(head.ref), attempt.ledger.live.get(head.ref)
    if written is None or live is None:
        return None
    if refused.reason is not Reason.REJECTED or head.verb is not Verb.APPLY:
        return None
    others = fields_of_others(head, written, live)
    changed = field_set.union(foreign_fields(head, written, live), others)
    smaller, unfit = without_unfit(head, changed, written, live)
    if unfit is None:
        return None
    known = attempt.ledger.dropped.get(head.ref, DroppedFields())
    paths = tuple(f".{path}" for path in field_set.paths(unfit))
    dropped = replace(known, unfit=paths, refusal=refused.message)
    return send_back(with_head(_put_dropped(attempt, head.ref, dropped), smaller), smaller)


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
    return send(with_head(attempt, larger), larger)


def with_dropped(attempt: Attempt, ref: Ref, paths: tuple[str, ...]) -> Attempt:
    """Note fields of an object that its way back leaves to others, if there are any."""
    if not paths:
        return attempt
    known = attempt.ledger.dropped.get(ref, DroppedFields())
    theirs = tuple(dict.fromkeys((*known.theirs, *paths)))
    return _put_dropped(attempt, ref, replace(known, theirs=theirs))


def _put_dropped(attempt: Attempt, ref: Ref, dropped: DroppedFields) -> Attempt:
    found = attempt.ledger.dropped
    found = found.put(ref, dropped) if dropped != DroppedFields() else found.drop(ref)
    return replace(attempt, ledger=replace(attempt.ledger, dropped=found))


def with_dropped_now(attempt: Attempt, head: PlannedWrite, shown: LiveObject) -> Attempt:
    """Note what an object that is back has otherwise than before, of what is left to others.

    They may have changed it more than once while the write was held.
    """
    written = attempt.ledger.written[head.ref]
    left = set(find_changed_paths(written, shown))
    known = attempt.ledger.dropped.get(head.ref, DroppedFields())
    still = tuple(path for path in known.theirs if path.removeprefix(".") in left)
    others = field_set.paths(fields_of_others(head, written, shown))
    theirs = tuple(dict.fromkeys((*still, *(f".{path}" for path in others))))
    return _put_dropped(attempt, head.ref, replace(known, theirs=theirs))


def with_head(attempt: Attempt, head: PlannedWrite) -> Attempt:
    """Put another write in the place of the one that the queue begins with."""
    return replace(attempt, writes=replace(attempt.writes, queue=(head, *attempt.writes.queue[1:])))


def lost_owners(attempt: Attempt, ref: Ref) -> Body | None:
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


def put_back(attempt: Attempt, owners: PlannedWrite) -> Step:
    """Send managed fields as they were, before the apply that the queue begins with.

    One in the place of an earlier try that was not done: what is there may be otherwise by then.
    """
    head, *behind = attempt.writes.queue
    is_again = head.verb is Verb.TAKE_OVER and "managedFields" in head.body.thaw()
    queue = (owners, *behind) if is_again else (owners, head, *behind)
    attempt = replace(attempt, writes=replace(attempt.writes, queue=queue, retry=None))
    return send_body(attempt, owners, owners.body)
