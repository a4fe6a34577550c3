"""How an attempt ended for each Deployment and in all, decided where it enters CLOSING."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt import Attempt, Ending, Purpose
from gate.core.body import FrozenMap
from gate.core.causes import Cause
from gate.core.fact import Known
from gate.core.machine import Leg, Trigger
from gate.core.objects import CleanText, Ref
from gate.core.outcome import Outcome, Reason, worst
from gate.core.policy import OnFailure
from gate.core.rollout import Verdict, VerdictKind

_CLOSED_BY_SELF = (Trigger.CONFIRMED, Trigger.DEPARTED)


def closed(attempt: Attempt, trigger: Trigger) -> Attempt:
    """Return the attempt with its endings, `trigger` being what closes it."""
    endings = FrozenMap(
        (target.ref, _ending(attempt, trigger, target.ref)) for target in attempt.plan.targets
    )
    whole = _whole(attempt, trigger, endings)
    return replace(attempt, endings=endings, ending=_observed(attempt, whole))


def _whole(attempt: Attempt, trigger: Trigger, endings: FrozenMap[Ref, Ending]) -> Ending:
    if not endings:
        return _of_bare_objects(attempt, trigger)
    first = next(iter(endings.values()))
    if first.outcome in (Outcome.INTERRUPTED, Outcome.REFUSED):
        return first
    outcome = worst(ending.outcome for ending in endings.values())
    return next(ending for ending in endings.values() if ending.outcome is outcome)


def _of_bare_objects(attempt: Attempt, trigger: Trigger) -> Ending:
    """End a manifest without a Deployment: its objects are all there is to say."""
    if trigger is Trigger.CONFIRMED:
        if attempt.leg is Leg.FORWARD:
            return Ending(Outcome.VERIFIED, Reason.COMPLETE, CleanText("applied"))
        return _went_back(attempt, None, Outcome.ROLLED_BACK)
    return _shared(attempt, trigger, None)


def _observed(attempt: Attempt, whole: Ending) -> Ending:
    """With `--observe` a bad end never fails the job: it says what would have been."""
    if not attempt.plan.policy.observe or whole.outcome in (Outcome.INTERRUPTED, Outcome.REFUSED):
        return whole
    return replace(whole, outcome=Outcome.OBSERVED)


def _ending(attempt: Attempt, trigger: Trigger, ref: Ref) -> Ending:
    if ref in attempt.departures:
        return _departed(attempt, ref)
    if trigger not in _CLOSED_BY_SELF:
        return _shared(attempt, trigger, ref)
    rollout = attempt.rollouts.get(ref)
    if rollout is None:
        return _not_followed(attempt, ref)
    verdict = rollout.verdict(attempt.now)
    return _forward(verdict) if attempt.leg is Leg.FORWARD else _back(attempt, ref, verdict)


def _shared(attempt: Attempt, trigger: Trigger, ref: Ref | None) -> Ending:
    """End all Deployments alike: a signal, a lost server, a refusal."""
    if trigger is Trigger.INTERRUPTED:
        return _interrupted(attempt, ref)
    if trigger is Trigger.REJECTED:
        return _rejected(attempt, ref)
    why = CleanText(attempt.contact_lost or "its budget ended while an answer was awaited")
    if attempt.first_write_at is None and attempt.plan.writes:
        return Ending(Outcome.REFUSED, Reason.UNREACHABLE, why)
    if attempt.leg is Leg.BACK and attempt.contact_lost is None:
        return replace(_went_back(attempt, ref, Outcome.ROLLBACK_FAILED), message=why)
    causes = _failure(attempt, ref).causes if attempt.leg is Leg.BACK else ()
    return Ending(Outcome.LOST_CONTACT, Reason.UNREACHABLE, why, causes)


def _interrupted(attempt: Attempt, ref: Ref | None) -> Ending:
    wrote = attempt.leg is Leg.BACK
    causes = _failure(attempt, ref).causes if wrote else ()
    text = "the rollback was written, not verified" if wrote else "the rollout was left as it is"
    return Ending(Outcome.INTERRUPTED, Reason.INTERRUPTED, CleanText(text), causes)


def _rejected(attempt: Attempt, ref: Ref | None) -> Ending:
    rejection = attempt.rejection
    if rejection is None:
        return Ending(Outcome.INTERNAL_ERROR, Reason.INTERNAL_ERROR, CleanText("no rejection"))
    if attempt.leg is Leg.BACK:
        return _went_back(attempt, ref, Outcome.ROLLBACK_FAILED)
    cause = Cause(rejection.reason, CleanText(f"{rejection.ref}: {rejection.message}"))
    if any(written.changed for written in attempt.written.values()):
        return Ending(Outcome.FAILED, Reason.APPLY_REJECTED, cause.message, (cause,))
    return Ending(Outcome.REFUSED, rejection.reason, cause.message, (cause,))


def _departed(attempt: Attempt, ref: Ref) -> Ending:
    """Tell a stranger's change from the return of the bad version after our rollback."""
    departure = attempt.departures[ref]
    bad, rollout = attempt.followed_before.get(ref), attempt.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    if bad is None or live is None or live.template.body != bad.applied.template.body:
        return departure
    message = CleanText("the failed version came back after the rollback: somebody else applies it")
    return Ending(
        Outcome.ROLLBACK_FAILED, Reason.GITOPS_REVERTED, message, _failure(attempt, ref).causes
    )


def _forward(verdict: Verdict) -> Ending:
    match verdict.kind:
        case VerdictKind.COMPLETE:
            return Ending(Outcome.VERIFIED, verdict.reason, verdict.message)
        case VerdictKind.SUPERSEDED:
            return Ending(Outcome.SUPERSEDED, verdict.reason, verdict.message)
        case _:
            return Ending(Outcome.FAILED, verdict.reason, verdict.message, verdict.causes)


def _back(attempt: Attempt, ref: Ref, verdict: Verdict) -> Ending:
    complete = verdict.kind is VerdictKind.COMPLETE and attempt.purpose is Purpose.SUCCESS
    if complete and attempt.rejection is None:
        return _went_back(attempt, ref, Outcome.ROLLED_BACK)
    ending = _went_back(attempt, ref, Outcome.ROLLBACK_FAILED)
    if complete:
        return ending
    text = CleanText(f"the rollback did not complete: {verdict.reason}: {verdict.message}")
    return replace(ending, message=text, causes=ending.causes + verdict.causes)


def _not_followed(attempt: Attempt, ref: Ref) -> Ending:
    """End a Deployment that the way back does not follow: paused, scaled, deleted or kept."""
    failure = _failure(attempt, ref)
    if attempt.leg is Leg.FORWARD or attempt.plan.policy.on_failure is OnFailure.PAUSE:
        return failure
    if isinstance(attempt.plan.target(ref).baseline, Known) and ref in attempt.written:
        outcome = Outcome.ROLLBACK_FAILED if attempt.rejection else Outcome.VERIFIED
        unchanged = not attempt.written[ref].changed
        return replace(failure, outcome=outcome) if not unchanged else _untouched(attempt, ref)
    return failure


def _untouched(attempt: Attempt, ref: Ref) -> Ending:
    """End a Deployment that this attempt never changed: it is what it was."""
    rollout = attempt.followed_before.get(ref)
    if rollout is None:
        return _failure(attempt, ref)
    return _forward(rollout.verdict(attempt.now))


def _went_back(attempt: Attempt, ref: Ref | None, outcome: Outcome) -> Ending:
    failure = _failure(attempt, ref)
    causes = failure.causes
    if attempt.rejection is not None:
        causes = (*causes, Cause(attempt.rejection.reason, attempt.rejection.message))
    return replace(failure, outcome=outcome, causes=causes)


def _failure(attempt: Attempt, ref: Ref | None) -> Ending:
    """Return why the attempt went back: this Deployment's own failure, else its sibling's."""
    if ref is not None and ref in attempt.failures:
        return attempt.failures[ref]
    for other, failure in attempt.failures.items():
        text = CleanText(f"{other} failed: {failure.message}")
        return replace(failure, message=text)
    return Ending(Outcome.FAILED, Reason.INTERRUPTED, CleanText("ended by a signal"))
