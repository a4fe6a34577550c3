"""Folds the answers to effects: what was written, what was read, what was refused.

An answer is legal only while its effect is outstanding, and only for an effect of its kind.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gate.core.attempt import check_runs
from gate.core.attempt.doubt import Doubt
from gate.core.attempt.limits import RETRY_SECONDS, SETTLING_SECONDS
from gate.core.attempt.new_rollout import UnexpectedAnswer
from gate.core.attempt.parts import Rejection, Retry
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import (
    Ask,
    Asking,
    Collect,
    FindTerminatingNamespaces,
    FindUsers,
    Read,
    Release,
    RemovePod,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import (
    Answer,
    Answered,
    Collected,
    Errored,
    PodRemoval,
    ReadBack,
    Recorded,
    Released,
    TerminatingNamespacesFound,
    UsersFound,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
    Written,
)
from gate.core.rollout.observations import Observed
from gate.core.states import unblocking
from gate.core.states.read_answers import Facts
from gate.core.states.table import STATES
from gate.core.writes.additions import find_met
from gate.core.writes.lagging_server import is_lagging, repeat_later, with_served
from gate.core.writes.obstacles import DELETED_MEANWHILE
from gate.core.writes.order import with_at_head
from gate.core.writes.other_users import with_users
from gate.core.writes.request import is_for_live_number
from gate.core.writes.results import NOT_ANSWERED, note_return, note_write, surely_written
from gate.core.writes.way_out import refused_for_good

_ANSWERS: dict[type[Answer], type[Asking]] = {
    Recorded: SaveRecord,
    Written: Write,
    WriteConflicted: Write,
    WriteRejected: Write,
    WriteUncertain: Write,
    ReadBack: Read,
    Collected: Collect,
    Answered: Ask,
    Errored: Ask,
    UsersFound: FindUsers,
    TerminatingNamespacesFound: FindTerminatingNamespaces,
    PodRemoval: RemovePod,
    Released: Release,
}


def fold_answer(attempt: Attempt, answer: Answer) -> tuple[Attempt, Facts]:
    """Return the attempt after an answer, and the observations that the answer contains."""
    effect = attempt.requests.outstanding.get(answer.effect_id)
    if effect is None or not isinstance(effect, _ANSWERS[type(answer)]):
        raise UnexpectedAnswer(f"nobody awaits {type(answer).__name__} {answer.effect_id}")
    attempt = _with_answered_at_head(attempt, effect)
    match effect, answer:
        case Write(), Written():
            return _fold_write(attempt, effect, answer)
        case Write(), WriteConflicted(pause_seconds=seconds):
            return _again(_with_pause(attempt, seconds)), ()
        case Write(), WriteUncertain():
            return _again(_kept_off(attempt, effect.ref, answer)), ()
        case Write(), WriteRejected(reason=Reason.NOT_FOUND) if is_lagging(attempt):
            return repeat_later(attempt), ()
        case Write(), WriteRejected(_, _, reason, message, paths):
            said = DELETED_MEANWHILE if reason is Reason.DELETED else message
            refused = Rejection(effect.ref, reason, said, paths, effect.body)
            return _fold_rejection(attempt, refused), ()
        case Read(), ReadBack():
            return STATES[attempt.course.state].fold_read(attempt, effect, answer)
        case RemovePod(), PodRemoval():
            return unblocking.fold_removal(attempt, effect, answer), ()
        case Ask(), Answered() | Errored():
            return check_runs.measure_answer(attempt, effect, answer), ()
        case _:
            return _fold_found(attempt, answer), ()


def _fold_found(attempt: Attempt, answer: Answer) -> Attempt:
    """Fold an answer that is about no object's state: evidence, other users, namespaces."""
    match answer:
        case Collected(_, _, evidence):
            found = attempt.result.evidence + evidence
            return replace(attempt, result=replace(attempt.result, evidence=found))
        case UsersFound():
            return with_users(attempt, answer)
        case TerminatingNamespacesFound(names=names):
            workloads = replace(attempt.workloads, terminating_namespaces=names)
            return replace(attempt, workloads=workloads)
        case _:
            return attempt


def _with_answered_at_head(attempt: Attempt, effect: Asking) -> Attempt:
    """Return the attempt with `effect` answered and its object's writes at the head of the queue.

    A read that no write waits for does not reorder the queue: configuration stays before its
    workloads.
    """
    attempt = replace(
        attempt,
        requests=replace(
            attempt.requests, outstanding=attempt.requests.outstanding.drop(effect.effect_id)
        ),
    )
    match effect:
        case Write():
            return with_at_head(attempt, effect.ref)
        case Read() if effect.ref in attempt.writes.set_aside:
            return with_at_head(attempt, effect.ref)
        case _:
            return attempt


# -- writes ----------------------------------------------------------------------------------------


def _fold_write(attempt: Attempt, effect: Write, answer: Written) -> tuple[Attempt, Facts]:
    head, uncertain = attempt.writes.queue[0], attempt.writes.uncertain
    attempt = with_served(surely_written(attempt).past_head())
    live, ref = answer.live, effect.ref
    if live is None:
        gone = attempt.ledger.live.drop(ref)
        return replace(
            attempt,
            ledger=replace(attempt.ledger, live=gone, deleted=(*attempt.ledger.deleted, ref)),
        ), ()
    sent, before = attempt, attempt.ledger.live.get(ref)
    attempt = replace(
        attempt, ledger=replace(attempt.ledger, live=attempt.ledger.live.put(ref, live))
    )
    if effect.verb is Verb.TAKE_OVER:
        return attempt, ()
    if attempt.course.leg is Leg.BACK:
        attempt = note_return(attempt, effect, before, live)
    else:
        # After a lost answer, a 200 may mean that our own earlier try created the object.
        known = answer.is_created or not uncertain
        is_created = Known(answer.is_created) if known else NOT_ANSWERED
        met = None if uncertain else find_met(sent, ref)
        attempt = note_write(attempt, head, live, read=before, is_created=is_created, met=met)
    seen = () if live.workload is None else (Observed(attempt.now, live.workload),)
    return attempt, seen


def _again(attempt: Attempt) -> Attempt:
    """Leave the write at the head of the queue; it is decided again after a read."""
    return replace(attempt, writes=replace(attempt.writes, retry=Retry(attempt.writes.uncertain)))


def _with_pause(attempt: Attempt, seconds: float) -> Attempt:
    """Ask the server nothing for a while after a write that it did not do."""
    if not seconds:
        return attempt
    not_before = _no_later_than_leg(attempt, _pause_ends_at(attempt, seconds, -math.inf))
    return replace(attempt, requests=replace(attempt.requests, not_before=not_before))


def _kept_off(attempt: Attempt, ref: Ref, answer: WriteUncertain) -> Attempt:
    """Record an answer that was lost or says nothing; the server is asked nothing for a while.

    If the leg's budget ends before that, it is asked then.
    """
    lost_at = attempt.writes.lost_at if attempt.writes.uncertain else attempt.now
    not_before = max(
        attempt.now + answer.retry_after_seconds,
        _pause_ends_at(attempt, answer.pause_seconds, lost_at + SETTLING_SECONDS),
    )
    not_before = _no_later_than_leg(attempt, not_before)
    doubts = attempt.requests.doubts.put(ref, Doubt(answer.why, answer.answer))
    return surely_written(
        replace(
            attempt,
            writes=replace(attempt.writes, uncertain=True, lost_at=lost_at),
            requests=replace(attempt.requests, not_before=not_before, doubts=doubts),
        )
    )


def _no_later_than_leg(attempt: Attempt, at: float) -> float:
    """Return when a pause ends: with the leg's budget, if that is not over yet."""
    ends_at = attempt.leg_ends_at
    return min(at, ends_at) if attempt.now < ends_at else at


def _pause_ends_at(attempt: Attempt, seconds: float, settled_at: float) -> float:
    """Return when a pause of ours ends; it outlasts no wait that a known failure or a signal ends.

    After a signal there are few seconds for the writes that answer it.
    """
    if attempt.interference.signal_number is not None:
        return attempt.now + min(seconds, RETRY_SECONDS)
    ends_at = attempt.now + seconds
    is_settling = attempt.course.leg is Leg.FORWARD and attempt.now < settled_at
    return min(ends_at, settled_at) if is_settling else ends_at


def _fold_rejection(attempt: Attempt, rejection: Rejection) -> Attempt:
    if attempt.course.leg is Leg.FORWARD:
        return _refused_out(attempt, rejection)
    return replace(
        attempt,
        writes=replace(attempt.writes, retry=Retry(attempt.writes.uncertain, refused=rejection)),
    )


def _refused_out(attempt: Attempt, rejection: Rejection) -> Attempt:
    """Handle a write of the way out that the server refused: give up on it.

    A workload is read first if anything has changed so far: the refusal may come from somebody
    else's change, and then that change is what is reported. So is one that was scaled meanwhile.
    """
    followed = any(target.ref == rejection.ref for target in attempt.plan.targets)
    is_changed = any(written.changed for written in attempt.ledger.written.values())
    if followed and (is_changed or is_for_live_number(attempt.writes.queue[0], rejection)):
        return replace(
            attempt,
            writes=replace(
                attempt.writes, retry=Retry(attempt.writes.uncertain, refused=rejection)
            ),
        )
    return refused_for_good(attempt, rejection)
