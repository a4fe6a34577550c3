"""How an attempt that went back because one failed ended for what it did not come to write."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.doubt import Doubt
from gate.core.attempt.ending import Ending
from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.parts import Rejection
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Absent
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import AnyReason, Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept, Record
from gate.core.rollout.causes import Cause
from gate.core.writes.authorship import Author, find_author
from gate.core.writes.lost_needs import (
    find_awaited,
    find_dropped,
    find_lost_need,
    find_perhaps_gone,
)
from gate.core.writes.order import answers_lost
from gate.core.writes.way_out import is_theirs

_NOT_KNOWN = "whether it was written is not known"

_GONE_SINCE = CleanText("it had completed before what waits for it was written, and is gone since")

ENDED_UNSEEN = CleanText("it was written, and is gone since: how it ended is not known")

_MAY_HAVE_GONE = CleanText(
    "it is not there: whether it was written, came to its end and went by ttlSecondsAfterFinished"
    " is not known"
)
_MAY_BE_DELETED = CleanText(
    "it is not there: whether it was written, and somebody deleted it since, is not known"
)

_LATE = "a write of which no answer was seen was done late"
LANDED_LATE = f"{_LATE}, and did not go back"
RAN_LATE = f"{_LATE}: what it does stays"
WHOSE_IS_UNKNOWN = (
    "the answer to its write was lost, and it has changed since: "
    "whether that write or somebody else did it is not known"
)


def end_awaited(attempt: Attempt, ref: Ref) -> Ending | None:
    """Return the ending of what a dead gate wrote, or may have, and is gone; None of any other."""
    if ref in find_awaited(attempt):
        return Ending(Outcome.VERIFIED, Reason.COMPLETE, _GONE_SINCE)
    if ref in find_perhaps_gone(attempt):
        return Ending(Outcome.INCONCLUSIVE, Reason.INTERRUPTED, _MAY_HAVE_GONE)
    return None


def is_unwritten(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload was to be written, and the attempt went back before that."""
    resumed = attempt.plan.resumed
    if resumed is None:
        planned = any(write.ref == ref for write in attempt.plan.writes)
        return planned and ref not in attempt.ledger.written
    kept = next((one for one in resumed.record.objects if one.ref == ref), None)
    if kept is None or not kept.changes:
        return False
    written = attempt.ledger.written.get(ref)
    if kept.reach.is_open and written is not None and written.changed:
        return False
    is_unseen = resumed.record.leg is Leg.FORWARD and written is None
    return is_unseen or not kept.reach.is_known_written


def may_have_gone(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a dead gate may have written what is not there, and what it did would stay.

    That has gone after its end, or somebody has deleted it, which its pods may outlive. The gate
    wrote one object after the other: not if one of those before it is as it was.
    """
    resumed = attempt.plan.resumed
    if resumed is None or ref in attempt.ledger.live or ref in find_awaited(attempt):
        return False
    record = resumed.record
    kept = next((one for one in record.objects if one.ref == ref), None)
    if kept is None or not record.has_come_to(ref, attempt.ledger.written):
        return False
    is_known = record.leg is Leg.BACK and not kept.reach.is_open
    return not is_known and (kept.goes_after_end or _may_be_deleted(record, kept))


def _may_be_deleted(record: Record, kept: Kept) -> bool:
    """Tell whether a record has something that runs once, and was not there before.

    Of what the dead gate itself deleted, to create it again, it is said that this did not happen.
    """
    is_replaced = any(one.ref == kept.ref and one.is_replaced for one in record.followed)
    return isinstance(kept.before, Absent) and not (is_replaced or has_way_back(kept.ref))


def say_may_have_gone(attempt: Attempt, ref: Ref) -> CleanText:
    """Say of what `may_have_gone` that nobody knows whether it was written."""
    objects = attempt.plan.resumed.record.objects if attempt.plan.resumed is not None else ()
    goes = any(one.ref == ref and one.goes_after_end for one in objects)
    return _MAY_HAVE_GONE if goes else _MAY_BE_DELETED


def has_gone(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what a dead gate is known to have written, and runs once, is there no more."""
    resumed = attempt.plan.resumed
    if resumed is None or has_way_back(ref) or ref in attempt.ledger.live:
        return False
    sent = resumed.record.find_sent(attempt.ledger.written)
    return ref in sent | find_awaited(attempt) or ref in attempt.result.failures


def may_run_on(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether pods of what `has_gone` may be left: somebody may have deleted it alone."""
    if not has_gone(attempt, ref) or ref in {*find_awaited(attempt), *attempt.result.failures}:
        return False
    objects = attempt.plan.resumed.record.objects if attempt.plan.resumed is not None else ()
    return not any(one.ref == ref and one.goes_after_end for one in objects)


def is_in_doubt(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an object may have been written after all: an answer to its write was lost."""
    return ref in answers_lost(attempt) and ref not in attempt.ledger.written


def has_landed_late(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a write whose answer was lost is known to have been done after all."""
    found = attempt.ledger.findings.get(ref)
    if found is not None and found.kind is FindingKind.WRITTEN_LATE:
        return True
    is_open = is_in_doubt(attempt, ref) and is_theirs(attempt, ref)
    return is_open and find_author(attempt, ref) is Author.OURS


def end_late(attempt: Attempt, ref: Ref, failure: Ending) -> Ending | None:
    """Return the ending of a workload that changed after the answer to its write was lost.

    It did not go back. None if it is as before, or if somebody else is known to have changed it.
    """
    has_changed = is_theirs(attempt, ref) or ref in attempt.interference.departures
    author = find_author(attempt, ref) if has_changed and is_in_doubt(attempt, ref) else None
    if author is None or author is Author.OTHERS:
        return None
    text = LANDED_LATE if author is Author.OURS else WHOSE_IS_UNKNOWN
    return replace(failure, outcome=Outcome.ROLLBACK_FAILED, message=CleanText(text))


def end_dropped(attempt: Attempt, ref: Ref) -> Ending | None:
    """Return the ending of what was not written since others took a workload before it, or None."""
    needed = find_lost_need(attempt, ref) if ref in find_dropped(attempt) else None
    if needed is None:
        return None
    departure = attempt.interference.departures[needed]
    text = f"it was not written, since {attempt.plan.name_of(needed)} was not completed by this run"
    message = CleanText(f"{text}: {departure.message}")
    return Ending(Outcome.REFUSED, departure.reason, message)


def reason_of_break(attempt: Attempt, rejection: Rejection) -> AnyReason:
    """Return the reason of an apply that ended before its last write.

    Of a workload that others took away while the next write waited for it, it is what they did:
    nobody rejected anything. Nor did anybody where an object that is needed was not ready: a
    workload has that as a cause, and without one it is the reason.
    """
    is_theirs = rejection.ref in attempt.interference.departures
    is_need = rejection.reason is Reason.OBJECT_NOT_READY and not attempt.plan.targets
    return rejection.reason if is_theirs or is_need else Reason.APPLY_REJECTED


def _describe_last(attempt: Attempt, refused: Rejection) -> str:
    """Say how a write in doubt ended, without what the server answered: that is said of it."""
    doubt = attempt.requests.doubts.get(refused.ref)
    said = f": {doubt.describe()}" if doubt is not None else ""
    return refused.message.removesuffix(said)


def describe_doubt(attempt: Attempt, ref: Ref) -> str:
    """Say that nobody knows whether an object was written, with what the server answered."""
    error = find_error(attempt, ref)
    if error is None:
        return f"the answer to its write was lost: {_NOT_KNOWN}"
    return f"{error.describe()}; {_NOT_KNOWN}"


def describe_open_write(attempt: Attempt, ref: Ref) -> str:
    """Say all that is known of a write without a clear answer, and no more."""
    error, name = find_error(attempt, ref), attempt.plan.name_of(ref)
    said = f"the answer to the write of {name} was lost:"
    if error is not None:
        said = f"the write of {name}: {error.describe()};"
    is_done = has_landed_late(attempt, ref)
    return f"{said} {'it was done after all' if is_done else 'whether it was done is not known'}"


def find_error(attempt: Attempt, ref: Ref) -> Doubt | None:
    """Return what the server answered last to a write, None if nothing came or it is settled."""
    doubt = attempt.requests.doubts.get(ref)
    return doubt if doubt is not None and doubt.answer else None


def end_unwritten(attempt: Attempt, ref: Ref, failure: Ending) -> Ending:
    """Return the ending of a workload that is as it was, since the apply ended before it.

    A write that was refused meanwhile had ended the way out already: then that is why. If an
    answer was lost, nobody knows whether it was written, whatever came of later tries.
    """
    refused = attempt.writes.rejection or attempt.result.rejection
    is_own = refused is not None and refused.ref == ref
    if is_in_doubt(attempt, ref):
        last = f"; {_describe_last(attempt, refused)}" if refused is not None and is_own else ""
        return replace(
            failure,
            outcome=Outcome.INCONCLUSIVE,
            message=CleanText(describe_doubt(attempt, ref) + last),
        )
    if refused is None:
        text = f"it was not written, since {failure.message}"
        return replace(failure, outcome=Outcome.REFUSED, message=CleanText(text))
    ended = CleanText(f"{attempt.plan.name_of(refused.ref)}: {refused.message}")
    text = f", since the writing ended at {ended}" if not is_own else f": {refused.message}"
    message, cause = CleanText(f"it was not written{text}"), Cause(refused.reason, ended)
    return Ending(Outcome.REFUSED, reason_of_break(attempt, refused), message, (cause,))
