"""Why the version of a workload failed, as far as an attempt knows."""

from __future__ import annotations

from gate.core.attempt.state import Attempt, Ending
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.versions.judged_version import is_failure


def find_failure(attempt: Attempt, ref: Ref) -> Ending | None:
    """Return why a workload's version failed, None if that is not known.

    The end of a gate is no failure of a version.
    """
    resumed = attempt.plan.resumed
    if resumed is None or not resumed.record.why or len(resumed.record.followed) > 1:
        return attempt.result.failures.get(ref)
    why = attempt.result.why_back
    return why if why is not None and why.reason is not Reason.INTERRUPTED else None


def is_known_failure(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload's own version led back, whoever has changed it since.

    A write that the server refused says nothing about the version.
    """
    why = find_failure(attempt, ref)
    return why is not None and is_failure(why.reason) and why.reason is not Reason.APPLY_REJECTED


def has_landed_late(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload stands as written though no answer said so: it did not go back."""
    is_stuck = attempt.result.endings[ref].outcome is Outcome.ROLLBACK_FAILED
    return is_stuck and attempt.plan.resumed is None
