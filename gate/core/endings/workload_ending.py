"""How an attempt ended for one workload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.check_conclusions import (
    cause_of,
    combine_verdicts,
    find_against,
    find_against_all,
    find_doubt,
)
from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import Trigger
from gate.core.checks.spec import OnInconclusive
from gate.core.endings.lock_ending import lock_ending
from gate.core.endings.rollback_ending import (
    beside_failure,
    causes_behind,
    failure_behind,
    rollback_ending,
    with_refused_removals,
)
from gate.core.endings.shared_ending import end_alike, refused_before_writes
from gate.core.endings.unwritten import end_awaited, end_dropped, end_late
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import AnyReason, Outcome, Reason, outcome_of
from gate.core.plan.leg import Leg
from gate.core.rollout.causes import Cause
from gate.core.rollout.early_evidence import early_causes, has_evidence
from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.writes.authorship import describe_scaler, name_writer


def end_workload(attempt: Attempt, trigger: Trigger, ref: Ref) -> Ending:
    """Return how the attempt ended for the workload `ref`; `trigger` is what ends it."""
    if ref in attempt.interference.departures:
        return refused_before_writes(attempt, _end_departed(attempt, ref))
    if trigger is Trigger.DEPARTED and attempt.interference.lock_lost is not None:
        lost = lock_ending(attempt, ref, attempt.interference.lock_lost)
        return refused_before_writes(attempt, lost)
    if trigger not in (Trigger.CONFIRMED, Trigger.DEPARTED):
        return end_alike(attempt, trigger, ref)
    if attempt.course.leg is Leg.BACK:
        return rollback_ending(attempt, ref)
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is None:
        found = end_dropped(attempt, ref) or end_awaited(attempt, ref)
        return found or _end_needing(attempt, ref)
    return _forward(attempt, ref, _verdict(attempt, ref, rollout))


def _end_needing(attempt: Attempt, ref: Ref) -> Ending:
    """Return the ending of a workload that was not written, since one that it needs has failed."""
    for needed in attempt.plan.needs_of(ref):
        rollout = attempt.workloads.rollouts.get(needed)
        if rollout is None:
            continue
        verdict = _verdict(attempt, needed, rollout)
        if verdict.kind is VerdictKind.FAILED:
            ending = beside_failure(attempt.plan, needed, verdict)
            return replace(ending, message=CleanText(f"it was not written, since {ending.message}"))
    return failure_behind(attempt, ref)


def _end_departed(attempt: Attempt, ref: Ref) -> Ending:
    """Return the ending of a workload that others took over.

    A rollback failed if what came back after it is the failed version; any other change is theirs.
    """
    departure = attempt.interference.departures[ref]
    if attempt.course.leg is Leg.BACK:
        late = end_late(attempt, ref, failure_behind(attempt, ref))
        if late is not None:
            return late
        departure = replace(departure, causes=causes_behind(attempt, ref))
    if departure.reason is Reason.DELETED:
        return _end_deleted(attempt, ref, departure)
    if departure.reason is not Reason.SUPERSEDED:
        return _end_emptied(attempt, ref, departure)
    bad, rollout = (
        attempt.workloads.followed_before.get(ref),
        attempt.workloads.rollouts.get(ref),
    )
    live = rollout.snapshot.live if rollout is not None else None
    written = attempt.ledger.written.get(ref)
    ours = written.field_manager if written is not None else FIELD_MANAGER
    writer = name_writer(attempt.ledger.live.get(ref), live, ours)
    if bad is None or live is None or not bad.still_ours(live):
        by = f" (by {writer})" if writer else ""
        causes = (*departure.causes, *_find_pod_in_their_way(attempt, ref))
        return replace(departure, message=CleanText(f"{departure.message}{by}"), causes=causes)
    who = writer or "somebody else"
    message = CleanText(f"the failed version came back after the rollback: {who} applies it")
    causes = failure_behind(attempt, ref).causes
    return Ending(Outcome.ROLLBACK_FAILED, Reason.GITOPS_REVERTED, message, causes)


def _end_emptied(attempt: Attempt, ref: Ref, departure: Ending) -> Ending:
    """Return the ending of what wants no pod any more, with what was wrong when it had some."""
    message = departure.message
    if departure.reason is Reason.SCALED_TO_ZERO:
        message = CleanText(f"{message} ({describe_scaler(attempt.ledger.live.get(ref))})")
    if ref in attempt.ledger.restored:
        message = CleanText(f"{message}; it went back to the version before, of which no pod runs")
    found = attempt.interference.last_causes.get(ref, ())
    causes = tuple(dict.fromkeys((*found, *departure.causes)))
    return replace(departure, message=message, causes=causes)


def _find_pod_in_their_way(attempt: Attempt, ref: Ref) -> Iterator[Cause]:
    """Yield the pod of a failed version at which the controller stops, before theirs can come."""
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is None or ref not in attempt.result.failures:
        return
    for fault in rollout.hindrances.faults:
        if fault.reason is Reason.BLOCKED_BY_POD:
            yield fault.cause()


def _end_deleted(attempt: Attempt, ref: Ref, departure: Ending) -> Ending:
    """Return the ending of a deleted workload; its message says if it was created again."""
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    found = (
        rollout.applied.find_departure(live) if rollout is not None and live is not None else None
    )
    return departure if found is None else replace(departure, message=found.message)


def _verdict(attempt: Attempt, ref: Ref, rollout: Rollout) -> Verdict:
    """Return the verdict on a workload, its checks included."""
    found = with_refused_removals(attempt, ref, rollout.verdict(attempt.now))
    return combine_verdicts(found, find_against(attempt).get(ref)) or found


def _forward(attempt: Attempt, ref: Ref, verdict: Verdict) -> Ending:
    match verdict.kind:
        case VerdictKind.COMPLETE:
            return unless_in_doubt(attempt, ref, verdict.reason, verdict.message)
        case VerdictKind.FAILED:
            return Ending.of_failure(verdict)
        case _:
            return _beside_failure(attempt, ref, verdict)


def unless_in_doubt(
    attempt: Attempt, ref: Ref | None, reason: AnyReason, message: CleanText
) -> Ending:
    """Return the ending of what is complete.

    It is verified, if anything rolled, unless a check was inconclusive and the policy does not let
    that pass.
    """
    doubt = find_doubt(attempt, ref)
    if doubt is None or attempt.plan.policy.response.on_inconclusive is OnInconclusive.PASS:
        return Ending(outcome_of(reason), reason, message)
    return replace(Ending.of_causes(cause_of(doubt)), outcome=Outcome.INCONCLUSIVE)


def _beside_failure(attempt: Attempt, ref: Ref, verdict: Verdict) -> Ending:
    """Return the ending of a workload under way when another's failure ended the attempt.

    The evidence against it at that time stays among its causes.
    """
    against = find_against_all(attempt)
    if against is not None:
        return Ending.of_failure(against)
    own = attempt.workloads.rollouts[ref]
    causes = early_causes(own, attempt.now) if has_evidence(own, attempt.now) else ()
    for other, rollout in attempt.workloads.rollouts.items():
        ruled = _verdict(attempt, other, rollout)
        if ruled.kind is VerdictKind.FAILED:
            ending = beside_failure(attempt.plan, other, ruled)
            return replace(ending, causes=(*ending.causes, *causes))
    return Ending.of_failure(verdict)
