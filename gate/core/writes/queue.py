"""Sends the writes of a leg, each decided when it is sent; `order` says which comes next.

After a conflict or a lost answer the object is read first and the write decided again: on the
way out by `way_out`, on the way back by `way_back`.
"""

from __future__ import annotations

from gate.core.attempt.state import Attempt, Step
from gate.core.model.field_manager import Verb
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read
from gate.core.writes.order import sendable, with_at_head
from gate.core.writes.other_users import find_users
from gate.core.writes.way_back import next_back
from gate.core.writes.way_out import next_out


def next_write(attempt: Attempt) -> Step:
    """Return what the next write asks for; the attempt unchanged if all have to wait."""
    if attempt.writes.rejection is not None:
        return attempt, ()
    if not attempt.writes.queue and attempt.course.leg is Leg.BACK:
        return find_users(attempt, Verb.APPLY)
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
        return next_back(attempt, head, retry)
    return next_out(attempt, head, retry)
