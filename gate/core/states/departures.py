"""Workloads that leave the attempt before its end: others took them over, or they want no pod.

What somebody has scaled to 0, or has lost its nodes, is still ours, and its pods may come back: it
leaves once the attempt would end without it. Until then it goes back with the others, at 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt, Step
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import TAKEN_OVER, Outcome, Reason
from gate.core.rollout.verdict import Verdict
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.late_writes import has_version_of_open_write
from gate.core.states.reads import read_all
from gate.core.states.verdicts import (
    Verdicts,
    are_others_complete,
    find_emptied,
    find_superseded,
)
from gate.core.writes.lost_needs import find_dropped


def with_departures(attempt: Attempt, state: StateBehaviour, verdicts: Verdicts) -> Step:
    """Record the workloads that somebody else has taken over, and ask who did.

    They leave the attempt, which is returned unchanged if there are none.
    """
    if state.is_final:
        return attempt, ()
    gone = sorted(_find_departed(attempt, verdicts))
    if not gone:
        return attempt, ()
    return _ask_who(_leave(attempt, verdicts, gone), state, gone)


def leave_emptied(
    attempt: Attempt, verdicts: Verdicts, going_back: Collection[Ref] = ()
) -> Attempt:
    """Record what wants no pod where nothing more is done about it: all but `going_back`."""
    gone = find_emptied(verdicts) - {*going_back}
    return _leave(attempt, verdicts, sorted(gone)) if gone else attempt


def _leave(attempt: Attempt, verdicts: Verdicts, gone: Iterable[Ref]) -> Attempt:
    """Return the attempt without the workloads `gone`, by what the verdict on each says."""
    departures = {
        ref: Ending(
            Outcome.INCONCLUSIVE if verdict.reason.is_of_surroundings else Outcome.SUPERSEDED,
            verdict.reason,
            _describe_departure(attempt, ref, verdict),
        )
        for ref in gone
        if (verdict := verdicts[ref]) is not None
    }
    return replace(
        attempt,
        interference=replace(
            attempt.interference,
            departures=FrozenMap({**attempt.interference.departures, **departures}),
            departed_at=attempt.now,
        ),
    )


def _find_departed(attempt: Attempt, verdicts: Verdicts) -> frozenset[Ref]:
    """Return what others took over; what wants no pod only if all else is over, or waits for it."""
    theirs, emptied = find_superseded(verdicts), find_emptied(verdicts)
    if not emptied:
        return theirs
    left_out = {*theirs, *emptied, *attempt.interference.departures, *find_dropped(attempt)}
    if all(target.ref in left_out for target in attempt.plan.targets):
        return theirs | emptied
    needed = {ref for write in attempt.writes.queue for ref in write.needs}
    return theirs | (emptied & needed if are_others_complete(verdicts) else frozenset())


def _describe_departure(attempt: Attempt, ref: Ref, verdict: Verdict) -> CleanText:
    """Say what was done to a workload; a write of our own that was under way may have done it."""
    live = attempt.workloads.rollouts[ref].snapshot.live
    if live is None or not has_version_of_open_write(attempt, ref, live):
        return verdict.message
    images = ", ".join(live.template.images())
    return CleanText(f"its pod template is now the one that was to be written: {images}")


def _ask_who(attempt: Attempt, state: StateBehaviour, gone: Iterable[Ref]) -> Step:
    """Read who made the change, unless that was read just now: watches do not say.

    Nor do they report at once that a deleted object was created again. While writes are left to
    be sent nothing is read, because that would delay them. A change that a watch reported before
    the answer to the last write is handled once that answer is here.
    """
    if not state.can_read_aside(attempt):
        return attempt, ()
    unknown = []
    for ref in gone:
        read, live = attempt.ledger.live.get(ref), attempt.workloads.rollouts[ref].snapshot.live
        fresh = read is not None and live is not None and read.workload == live
        reason = attempt.interference.departures[ref].reason
        is_gone = reason is Reason.DELETED and live is None
        if is_gone or (reason in TAKEN_OVER and not fresh):
            unknown.append(ref)
    return read_all(attempt, unknown, whole_rollout=False, again=True)
