"""Which workloads are not followed: others took what they come after, or they have gone."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.writes.order import answers_lost


def find_dropped(attempt: Attempt) -> frozenset[Ref]:
    """Return the workloads that are never written, since one that they come after is not ours.

    What comes last is about the others, as a smoke test, and what it does cannot be taken back.
    """
    if not attempt.interference.departures:
        return frozenset()
    planned = {write.ref for write in attempt.plan.writes}
    done = {*attempt.ledger.written, *answers_lost(attempt), *attempt.interference.departures}
    return frozenset(ref for ref in planned - done if find_lost_need(attempt, ref) is not None)


def find_awaited(attempt: Attempt) -> frozenset[Ref]:
    """Return what a dead gate saw complete, and what is gone: what waits for it is written."""
    resumed = attempt.plan.resumed
    return frozenset() if resumed is None else resumed.record.find_passed(attempt.ledger.written)


def find_perhaps_gone(attempt: Attempt) -> frozenset[Ref]:
    """Return what a dead gate may have written last, and what may have gone after its end."""
    resumed = attempt.plan.resumed
    if resumed is None or resumed.record.leg is Leg.BACK:
        return frozenset()
    return resumed.record.find_perhaps_gone(attempt.ledger.written, attempt.ledger.live)


def find_lost_need(attempt: Attempt, ref: Ref) -> Ref | None:
    """Return the first workload before one of the last phase that somebody else took over.

    One of the phase `BEFORE` is not among them: without it the whole apply breaks off.
    """
    if attempt.plan.phase_of(ref) is not Phase.AFTER:
        return None
    departures, phase_of = attempt.interference.departures, attempt.plan.phase_of
    lost = (one for one in attempt.plan.needs_of(ref) if one in departures)
    return next((one for one in lost if phase_of(one) is not Phase.BEFORE), None)
