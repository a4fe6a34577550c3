"""Leaves to others what they changed or deleted while a write of ours was still to come."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Unknown
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.writes.authorship import Author, find_author


def leave_object(attempt: Attempt, ref: Ref) -> Attempt:
    """Step back from an object that somebody else has changed or deleted since."""
    attempt = attempt.past_head()
    if ref not in attempt.workloads.followed_before:
        return replace(
            attempt,
            ledger=replace(attempt.ledger, left_to_others=(*attempt.ledger.left_to_others, ref)),
        )
    return leave_workload(attempt, ref)


def leave_workload(attempt: Attempt, ref: Ref) -> Attempt:
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


def leave_after_lost_answer(attempt: Attempt, ref: Ref) -> Attempt:
    """Leave a workload to whoever changed it, whether or not our write came before that."""
    here = ref in attempt.ledger.live
    reason, did = (Reason.SUPERSEDED, "changed") if here else (Reason.DELETED, "deleted")
    awaited = "while the answer to our write was awaited"
    message = CleanText(f"somebody else {did} it {awaited}")
    if find_author(attempt, ref) is not Author.OTHERS:
        whose = "whether that write or somebody else did it is not known"
        message = CleanText(f"it was {did} {awaited}: {whose}")
    ending = Ending(Outcome.SUPERSEDED, reason, message)
    departures = attempt.interference.departures.put(ref, ending)
    return replace(
        attempt.past_head(),
        interference=replace(attempt.interference, departures=departures, departed_at=attempt.now),
    )
