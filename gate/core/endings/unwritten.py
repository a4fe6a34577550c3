"""How an attempt that went back because one failed ended for what it did not come to write."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.state import Attempt, Ending
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome


def is_unwritten(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a Deployment was to be written, and the attempt went back before that."""
    resumed = attempt.plan.resumed
    if resumed is None:
        planned = any(write.ref == ref for write in attempt.plan.writes)
        return planned and ref not in attempt.ledger.written
    kept = next((one for one in resumed.record.objects if one.ref == ref), None)
    return kept is not None and kept.changes and kept.is_unreached


def end_unwritten(failure: Ending) -> Ending:
    """Return the ending of a Deployment that is as it was, unwritten since another failed."""
    text = CleanText(f"it was not written, since {failure.message}")
    return replace(failure, outcome=Outcome.REFUSED, message=text)
