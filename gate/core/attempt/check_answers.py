"""What each check of an attempt says, at its end, of the version of a workload."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt.health_checks import cause_of, conclusions, iter_unasked
from gate.core.attempt.state import Attempt
from gate.core.checks.run import Conclusion, ConclusionKind
from gate.core.model.objects import Ref
from gate.core.rollout.causes import Cause

_IN_DOUBT = (ConclusionKind.FAIL, ConclusionKind.INCONCLUSIVE)


def iter_against(attempt: Attempt, ref: Ref) -> Iterator[Cause]:
    """Yield, as a cause, each check about `ref` that failed, or could not decide."""
    resumed = attempt.plan.resumed
    unasked = () if resumed is not None and resumed.back else iter_unasked(attempt)
    for said in (*unasked, *_iter_about(attempt, ref)):
        if said.kind in _IN_DOUBT:
            yield cause_of(said)


def find_passed(attempt: Attempt, ref: Ref) -> frozenset[str]:
    """Return the names of the checks about `ref` that passed."""
    said = _iter_about(attempt, ref)
    return frozenset(one.check for one in said if one.kind is ConclusionKind.PASS)


def _iter_about(attempt: Attempt, ref: Ref) -> Iterator[Conclusion]:
    found = zip(attempt.plan.policy.checks, conclusions(attempt), strict=True)
    return (said for check, said in found if check.decides and check.is_about(ref))
