"""How an attempt ended where all its workloads end alike: by a signal, lost contact, a refusal."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import Trigger
from gate.core.endings.rollback_ending import end_superseded, failure_behind, refusal_cause
from gate.core.endings.unwritten import (
    describe_doubt,
    end_unwritten,
    is_in_doubt,
    is_unwritten,
    reason_of_break,
)
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason, outcome_of
from gate.core.plan.leg import Leg
from gate.core.rollout.verdict import VerdictKind
from gate.core.writes.order import answers_lost
from gate.core.writes.way_out import became_theirs


def end_alike(attempt: Attempt, trigger: Trigger, ref: Ref | None) -> Ending:
    """Return the ending that all workloads share: by a signal, lost contact or a refusal."""
    if trigger is Trigger.INTERRUPTED:
        return end_interrupted(attempt, ref)
    if trigger is Trigger.REJECTED:
        return _end_beside_rejection(attempt, ref)
    trouble = attempt.interference.contact.trouble
    why = CleanText(trouble.why if trouble else _say_unanswered(attempt))
    reason = trouble.reason if trouble else Reason.UNREACHABLE
    if attempt.plan.writes and not attempt.may_have_written:
        return Ending(Outcome.REFUSED, reason, why)
    failure = failure_behind(attempt, ref)
    if attempt.course.leg is Leg.FORWARD:
        return Ending(Outcome.LOST_CONTACT, reason, why)
    if trouble is None:
        return replace(failure, outcome=Outcome.ROLLBACK_FAILED, message=why)
    return Ending(Outcome.LOST_CONTACT, reason, why, failure.causes)


def _say_unanswered(attempt: Attempt) -> str:
    unread = attempt.requests.unreadable
    if not unread:
        return "its time ran out before it was known whether all writes were done"
    return f"the last read before its time ran out got no usable answer: {unread}"


def _end_beside_rejection(attempt: Attempt, ref: Ref | None) -> Ending:
    """Return the ending of a workload where a refused write ended the way out, nothing went back.

    What others made theirs before it was written is superseded. A run that has come to its end
    ended well, whatever was to follow it.
    """
    ended = end_rejected(attempt)
    if ended.outcome is not Outcome.FAILED or ref is None:
        return ended
    if became_theirs(attempt, ref):
        return end_superseded(attempt, ref, ended.causes)
    if is_unwritten(attempt, ref):
        return end_unwritten(attempt, ref, ended)
    rollout = attempt.workloads.rollouts.get(ref)
    ruled = rollout.ruling(attempt.now) if rollout is not None and not has_way_back(ref) else None
    if ruled is not None and ruled.kind is VerdictKind.COMPLETE:
        return Ending(outcome_of(ruled.reason), ruled.reason, ruled.message)
    return ended


def refused_before_writes(attempt: Attempt, ending: Ending) -> Ending:
    """Return `ending`, as a refusal if nothing was written yet."""
    if attempt.plan.writes and not attempt.may_have_written:
        return replace(ending, outcome=Outcome.REFUSED)
    return ending


def end_interrupted(attempt: Attempt, ref: Ref | None) -> Ending:
    """Return the ending by a signal, of a workload or, without `ref`, of the whole."""
    is_back, has_written = attempt.course.leg is Leg.BACK, attempt.may_have_written
    if (is_back or has_written) and ref is not None and is_unwritten(attempt, ref):
        text = CleanText(
            describe_doubt(attempt, ref) if is_in_doubt(attempt, ref) else "it was not written"
        )
        return Ending(Outcome.INTERRUPTED, Reason.INTERRUPTED, text)
    causes = failure_behind(attempt, ref).causes if is_back else ()
    text = describe_interruption(attempt)
    if ref is not None and not has_way_back(ref) and ref in attempt.ledger.written:
        text = CleanText(_describe_left_run(attempt, ref))
    return Ending(Outcome.INTERRUPTED, Reason.INTERRUPTED, text, causes)


def _describe_left_run(attempt: Attempt, ref: Ref) -> str:
    """Say how a signal left what runs to its end: nothing takes it back, whichever the leg."""
    rollout = attempt.workloads.rollouts.get(ref) or attempt.workloads.followed_before.get(ref)
    snapshot = rollout.snapshot if rollout is not None else attempt.workloads.snapshots.get(ref)
    live = snapshot.live if snapshot is not None else None
    has_ended = live is not None and kind_of(ref).has_ended(live)
    return "it had come to its end" if has_ended else "it was left as it is"


def describe_interruption(attempt: Attempt) -> CleanText:
    """Say what a signal left of the attempt as a whole."""
    if attempt.course.leg is Leg.BACK:
        late = "the rollback was not written in time, wholly or in part"
        return CleanText(late if attempt.writes.queue else "the rollback was written, not verified")
    if attempt.may_have_written or not attempt.plan.writes:
        return CleanText(_describe_left_rollout(attempt))
    return CleanText("nothing was written")


def _describe_left_rollout(attempt: Attempt) -> str:
    """Say whether anything of the rollout goes on, and how much of its watch was cut off."""
    followed = [target.ref for target in attempt.plan.targets]
    if not followed or not all(is_complete(attempt, ref) for ref in followed):
        return "the rollout was left as it is"
    left = attempt.bake_ends_at - attempt.now
    if not 0 < left < math.inf:
        return "the rollout was complete, and had no verdict yet"
    checks = " and checks" if any(one.decides for one in attempt.plan.policy.checks) else ""
    unseen = f"the last {math.ceil(left)} s of bake{checks} were not watched"
    return f"the rollout was complete; {unseen}"


def is_complete(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the rollout of a workload is complete: nothing of it goes on."""
    rollout = attempt.workloads.rollouts.get(ref)
    return rollout is not None and rollout.verdict(attempt.now).kind is VerdictKind.COMPLETE


def end_rejected(attempt: Attempt) -> Ending:
    """Return the ending of the whole by a write that was refused on the way out."""
    rejection = attempt.writes.rejection
    if rejection is None:
        return Ending(Outcome.INTERNAL_ERROR, Reason.INTERNAL_ERROR, CleanText("no rejection"))
    cause = refusal_cause(attempt.plan, rejection)
    if any(written.changed for written in attempt.ledger.written.values()):
        reason = reason_of_break(attempt, rejection)
        return Ending(Outcome.FAILED, reason, cause.message, (cause,))
    message = cause.message
    if rejection.ref in answers_lost(attempt) and rejection.reason is Reason.TIMEOUT:
        name = attempt.plan.name_of(rejection.ref)
        text = f"{name}: the answer to a write was lost, and nothing shows that it was done"
        return Ending(Outcome.LOST_CONTACT, Reason.UNREACHABLE, CleanText(text))
    if _taken_over(attempt, rejection.ref):
        message = CleanText(
            f"{message} (its fields were taken over, which changes nothing that runs)"
        )
    return Ending(Outcome.REFUSED, rejection.reason, message, (cause,))


def _taken_over(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an object's fields were taken over although its apply was not done."""
    ahead = [write.verb for write in attempt.writes.queue if write.ref == ref]
    planned = [write.verb for write in attempt.plan.writes if write.ref == ref]
    return Verb.TAKE_OVER in planned and Verb.TAKE_OVER not in ahead
