"""What the health checks of an attempt say of the version.

Their verdict is combined with that of the rollout: whichever is against the version counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.core.attempt.awaited_objects import objects_verdict
from gate.core.attempt.check_subjects import about, is_about_any, measures_any
from gate.core.attempt.state import Attempt
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind
from gate.core.checks.spec import Check, During, OnInconclusive
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.rollout.causes import Cause
from gate.core.rollout.verdict import Verdict, VerdictKind

_IN_DOUBT = (ConclusionKind.FAIL, ConclusionKind.INCONCLUSIVE)


def conclusions(attempt: Attempt) -> tuple[Conclusion, ...]:
    """Return what each check says, in the policy's order; final once the way out is over.

    A check that has not begun, because the attempt ended before its phase, is "never ran".
    """
    if attempt.health.concluded or not attempt.plan.policy.checks:
        return attempt.health.concluded
    bake_ends_at = attempt.bake_ends_at  # Once: it looks at each check itself.
    return tuple(_conclusion(attempt, check, bake_ends_at) for check in attempt.plan.policy.checks)


def _conclusion(attempt: Attempt, check: Check, bake_ends_at: float) -> Conclusion:
    run = attempt.health.checks.get(check.name)
    if run is None:
        return Conclusion(ConclusionKind.UNDECIDED, CleanText("never ran"), check=check.name)
    over_at = _over_at(attempt, run, bake_ends_at)
    return run.verdict_so_far if over_at is None else run.conclude(over_at)


def _over_at(attempt: Attempt, run: CheckRun, bake_ends_at: float) -> float | None:
    """Return when the check's phase ended, None while it lasts or an answer is awaited."""
    bakes = run.check.runs_in(During.BAKE)
    ended_at = bake_ends_at if bakes else attempt.course.baked_since
    if attempt.now < ended_at or (run.outstanding is not None and not attempt.answers_overdue):
        return None
    return ended_at


def awaits(attempt: Attempt) -> bool:
    """Tell whether the window's end still waits for a measurement that may decide."""
    if attempt.answers_overdue:
        return False
    runs = attempt.health.checks.values()
    return any(run.check.decides and run.outstanding is not None for run in runs)


def find_against(attempt: Attempt) -> Mapping[Ref, Verdict]:
    """Return what deciding checks have against each workload: the first such check's verdict.

    After them comes an object that is not ready, which is about all that was not finished before.
    """
    found: dict[Ref, Verdict] = {}
    for check, verdict in _verdicts(attempt):
        for ref in about(attempt, check):
            found.setdefault(ref, verdict)
    unready = objects_verdict(attempt)
    if unready is not None:
        for ref in _find_versions(attempt):
            found.setdefault(ref, unready)
    return found


def _find_versions(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the followed workloads that nothing else waited for; all if there are none such."""
    refs = tuple(attempt.workloads.rollouts)
    main = tuple(ref for ref in refs if attempt.plan.phase_of(ref) is not Phase.BEFORE)
    return main or refs


def combine_verdicts(ruled: Verdict | None, of_checks: Verdict | None) -> Verdict | None:
    """Return the verdict on a rollout, with what checks have against it.

    The checks cannot fail a rollout that somebody else has taken over or holds.
    """
    if ruled is None or ruled.kind in (VerdictKind.COMPLETE, VerdictKind.PROGRESSING):
        return of_checks or ruled
    return ruled


def find_against_all(attempt: Attempt) -> Verdict | None:
    """Return what a deciding check has against an attempt that follows no workload."""
    if measures_any(attempt):
        return None
    return next((verdict for _, verdict in _verdicts(attempt)), objects_verdict(attempt))


def _verdicts(attempt: Attempt) -> Iterator[tuple[Check, Verdict]]:
    """Yield the failures, and the doubts if the policy treats them as failures."""
    if attempt.course.leg is Leg.BACK:
        return
    doubts_count = attempt.plan.policy.response.on_inconclusive is OnInconclusive.ROLLBACK
    for check, said in zip(attempt.plan.policy.checks, conclusions(attempt), strict=True):
        failed = said.kind is ConclusionKind.FAIL
        doubtful = said.kind is ConclusionKind.INCONCLUSIVE
        if check.decides and (failed or (doubtful and doubts_count)):
            yield check, _verdict(said)


def _verdict(said: Conclusion) -> Verdict:
    cause = cause_of(said)
    return Verdict(VerdictKind.FAILED, cause.reason, cause.message, check=cause.check)


def cause_of(said: Conclusion) -> Cause:
    """Return as a cause what a check that did not pass says."""
    reason = said.reason or Reason.CHECK_INCONCLUSIVE
    return Cause(reason, CleanText(f"{said.check}: {said.message}"), check=said.check)


def iter_unasked(attempt: Attempt) -> Iterator[Conclusion]:
    """Yield the checks of a resumed attempt that had not concluded: none is asked again.

    Its gate has ended, unless only its lock was released.
    """
    resumed = attempt.plan.resumed
    if resumed is None:
        return
    ended = "the lock of the gate" if resumed.may_still_run else "the gate"
    did = "was released" if resumed.may_still_run else "ended"
    why = CleanText(f"not asked again, since {ended} that asked it {did}")
    for name in resumed.record.checks:
        yield Conclusion(ConclusionKind.INCONCLUSIVE, why, Reason.CHECK_INCONCLUSIVE, name)


def find_doubt(attempt: Attempt, ref: Ref | None) -> Conclusion | None:
    """Return the first inconclusive deciding check about `ref` (None: about anything), or None."""
    for said in iter_unasked(attempt):
        return said
    for check, said in zip(attempt.plan.policy.checks, conclusions(attempt), strict=True):
        concerned = ref is None or ref in about(attempt, check)
        if check.decides and concerned and said.kind is ConclusionKind.INCONCLUSIVE:
            return said
    return None


def has_evidence(attempt: Attempt) -> bool:
    """Tell whether a deciding check has already measured anything bad (for an interrupt)."""
    return any(
        run.check.decides and run.tally.failures and is_about_any(attempt, run.check)
        for run in attempt.health.checks.values()
    )


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
