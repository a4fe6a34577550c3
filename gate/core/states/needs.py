"""What the next write of the way out needs: workloads that are complete, objects that are ready."""

from __future__ import annotations

from collections.abc import Iterable

from gate.core.attempt.awaited_objects import readiness_of
from gate.core.attempt.parts import Rejection
from gate.core.attempt.state import Attempt
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.model.readiness import ReadinessKind
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.plan import PlannedWrite
from gate.core.rollout.verdict import VerdictKind
from gate.core.states.verdicts import Verdicts, find_failed
from gate.core.writes.lost_needs import find_dropped

_USABLE = (ReadinessKind.READY, ReadinessKind.UNJUDGED)


def is_blocked(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether the next write has to wait for what it needs.

    A write that was sent once is decided again whatever has become of that.
    """
    writes = attempt.writes
    if attempt.course.leg is Leg.BACK or not writes.queue or attempt.asks:
        return False
    if writes.retry is not None or writes.uncertain:
        return False
    return bool(find_unmet(attempt, verdicts))


def find_unmet(attempt: Attempt, verdicts: Verdicts) -> tuple[Ref, ...]:
    """Return what the next write needs and is not complete or ready, in order."""
    queue = attempt.writes.queue
    needs = queue[0].needs if queue else ()
    return tuple(ref for ref in needs if not _is_met(attempt, verdicts, ref))


def _is_met(attempt: Attempt, verdicts: Verdicts, ref: Ref) -> bool:
    phase = attempt.plan.phase_of(ref)
    if phase is None:
        return readiness_of(attempt, ref).kind in _USABLE
    if ref in attempt.interference.departures:
        # What would come after this one is dropped when its turn comes (`writes.lost_needs`).
        return phase is not Phase.BEFORE
    verdict = verdicts.get(ref)
    return verdict is not None and verdict.kind is VerdictKind.COMPLETE


def find_failed_needs(attempt: Attempt, verdicts: Verdicts) -> frozenset[Ref]:
    """Return the followed workloads that have failed and that any unsent write needs."""
    if attempt.course.leg is Leg.BACK:
        return frozenset()
    return find_failed(verdicts) & _find_needed(attempt.writes.queue)


def breaks_off(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether a workload that comes before the others has failed, so that they stay unwritten.

    Then the attempt is a part of an apply and no version (`plan.plan_to_take_back`).
    """
    return _has_first(attempt, find_failed_needs(attempt, verdicts))


def has_broken_off(attempt: Attempt, failed: frozenset[Ref]) -> bool:
    """Tell the same of a way out that has ended, and is not taken back, by what has `failed`.

    What somebody took away in time is as good as failed.
    """
    failed |= frozenset(attempt.interference.departures)
    left_out = {*attempt.interference.departures, *find_dropped(attempt), *attempt.ledger.written}
    unwritten = (write for write in attempt.plan.writes if write.ref not in left_out)
    return _has_first(attempt, failed & _find_needed(unwritten))


def _find_needed(writes: Iterable[PlannedWrite]) -> frozenset[Ref]:
    return frozenset(ref for write in writes for ref in write.needs)


def _has_first(attempt: Attempt, refs: Iterable[Ref]) -> bool:
    return any(attempt.plan.phase_of(ref) is Phase.BEFORE for ref in refs)


def find_hopeless(attempt: Attempt) -> Rejection | None:
    """Return why the next write cannot be done, None as long as what it needs may be ready yet.

    A failed workload is not among that: reads confirm its verdict first.
    """
    queue = attempt.writes.queue
    for ref in queue[0].needs if queue else ():
        phase, departure = attempt.plan.phase_of(ref), attempt.interference.departures.get(ref)
        if departure is not None and phase is Phase.BEFORE:
            return Rejection(ref, departure.reason, departure.message)
        if phase is None and (why := _why_not_ready(attempt, ref)) is not None:
            return Rejection(ref, Reason.OBJECT_NOT_READY, why)
    return None


def _why_not_ready(attempt: Attempt, ref: Ref) -> CleanText | None:
    """Return why an object will not be ready any more, None if it is or may be."""
    found = readiness_of(attempt, ref)
    if found.kind is ReadinessKind.FAILED:
        return found.why
    if not found.is_waited_for or attempt.now < attempt.objects_end_at:
        return None
    return CleanText(f"it was not ready in time: {found.why}")
