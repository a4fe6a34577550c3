"""CLOSING and ENDED: the locks are released, then nothing is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.core.attempt import limits
from gate.core.attempt.ending import Ending
from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.endings.conclusion import with_endings
from gate.core.endings.differences import differences
from gate.core.endings.last_reads import (
    with_deletions_checked,
    with_recreations,
    with_restorations_checked,
    with_unread,
)
from gate.core.endings.lock_ending import with_lost_lock
from gate.core.endings.terminating_namespaces import with_terminating_namespaces
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.protocol.effects import Release
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.verdicts import Verdicts
from gate.core.versions.history import Closed
from gate.core.writes.order import without_writes

_LOST: Final = Ending(
    Outcome.SUPERSEDED, Reason.LOCKED, CleanText("a lock of this attempt was taken")
)


class Closing(StateBehaviour):
    """Waits for the release of the locks, not beyond `closes_at`."""

    is_final = True

    def enter(self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Release the lock; without a last look, the endings are decided here."""
        if trigger is Trigger.INSPECTED:
            attempt = with_deletions_checked(with_recreations(attempt))
            attempt = with_restorations_checked(attempt)
            attempt, lines = with_terminating_namespaces(attempt)
        else:
            attempt, lines = with_endings(attempt, trigger), ()
        closed, if_lost = closed_of(attempt), _closed_if_lost(attempt)
        attempt = _without_writes(with_unread(attempt))
        lines += tuple(attempt.say("differs", line) for line in differences(attempt))
        release = Release(attempt.requests.next_id, closed, if_lost)
        return attempt.with_effect(release), (*lines, release)

    def next_trigger(self, attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        """Go on once the lock is released, or its time is up."""
        overdue = attempt.now >= closes_at(attempt)
        return Trigger.CLOSED if overdue or not attempt.awaits(Release) else None

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield when the release is no longer waited for."""
        yield closes_at(attempt)


def _closed_if_lost(attempt: Attempt) -> Closed | None:
    """Return what to remember if a lock is lost, None where only its own lock would remember it."""
    if len(attempt.plan.targets) < 2:  # noqa: PLR2004 - a lock for each
        return None
    lost = attempt.interference.lock_lost or _LOST
    doubted = replace(attempt, interference=replace(attempt.interference, lock_lost=lost))
    superseded = with_lost_lock(doubted)
    return closed_of(superseded) if superseded is not doubted else None


def _without_writes(attempt: Attempt) -> Attempt:
    """Send nothing more and await no answer."""
    now, decided_at = attempt.now, attempt.result.verdict_at
    attempt = without_writes(attempt)
    return replace(
        attempt,
        course=replace(attempt.course, closing_since=now),
        result=replace(attempt.result, verdict_at=now if decided_at is None else decided_at),
    )


class Ended(StateBehaviour):
    """Asks for nothing and takes nothing in."""

    is_final = True

    def enter(self, attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Await no answer any more; the release of the locks may have found one lost."""
        attempt = with_lost_lock(attempt)
        return replace(attempt, requests=replace(attempt.requests, outstanding=FrozenMap())), ()

    def next_trigger(self, _attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        """Stay: nothing follows the end."""
        return None


def closes_at(attempt: Attempt) -> float:
    """Return when the attempt stops waiting for the release of the lock, monotonic seconds."""
    since, further = attempt.course.closing_since, max(0, len(attempt.plan.targets) - 1)
    longer = min(since + further * limits.MORE_CLOSING_SECONDS, attempt.gives_up_at)
    own = max(since, longer) + limits.CLOSING_SECONDS
    return min(own, attempt.interference.interrupted_at + limits.INTERRUPTED_CLOSING_SECONDS)
