"""How an attempt ended, per Deployment and as a whole.

This is decided on entering INSPECTING, or CLOSING if nothing is inspected.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt import health_checks
from gate.core.attempt.awaited_objects import conclude_objects
from gate.core.attempt.state import Attempt, Ending
from gate.core.attempt.transitions import Trigger
from gate.core.checks.spec import OnInconclusive
from gate.core.endings.lock_ending import lock_ending
from gate.core.endings.rollback_ending import (
    beside_failure,
    causes_behind,
    failure_behind,
    has_taken_back_nothing,
    refusal_cause,
    rollback_ending,
)
from gate.core.endings.unwritten import (
    IN_DOUBT,
    end_dropped,
    end_late,
    end_unwritten,
    is_in_doubt,
    is_unwritten,
    reason_of_break,
)
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.body import FrozenMap
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import WELL, AnyReason, Outcome, Reason, outcome_of, worst
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.rollout.early_evidence import has_evidence
from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.writes.authorship import name_writer
from gate.core.writes.lost_needs import find_dropped

_OF_THE_WHOLE = (Outcome.INTERRUPTED, Outcome.REFUSED)
"""Outcomes that apply to all Deployments alike."""
_OF_SIBLINGS = (Reason.SIBLING_FAILED, Reason.SIBLING_LOCKED)
"""Reasons of a Deployment that ended because of what happened to another one."""


def with_endings(attempt: Attempt, trigger: Trigger) -> Attempt:
    """Return the attempt with its endings; `trigger` is what ends it."""
    attempt = replace(
        attempt, health=replace(attempt.health, concluded=health_checks.conclusions(attempt))
    )
    endings = FrozenMap(
        (target.ref, _ending(attempt, trigger, target.ref)) for target in attempt.plan.targets
    )
    whole = judged = _whole(attempt, trigger, endings)
    if attempt.plan.policy.observe and whole.outcome not in _OF_THE_WHOLE:
        whole = replace(whole, outcome=Outcome.OBSERVED)
    objects = FrozenMap(conclude_objects(attempt))
    result = replace(attempt.result, endings=endings, ending=whole, judged=judged, objects=objects)
    return replace(attempt, result=result)


# -- the whole -------------------------------------------------------------------------------------


def _whole(attempt: Attempt, trigger: Trigger, endings: FrozenMap[Ref, Ending]) -> Ending:
    if not endings:
        return _with_refusals(attempt, _of_bare_objects(attempt, trigger))
    if trigger is Trigger.REJECTED:
        return _end_rejected(attempt)
    serving_first = sorted(endings.items(), key=lambda one: not has_way_back(one[0]))
    deciding = [one for ref, one in serving_first if not _is_beside(attempt, ref, one)]
    deciding.sort(key=lambda ending: ending.reason in _OF_SIBLINGS)
    for ending in deciding:
        if ending.outcome is Outcome.INTERRUPTED:
            return replace(ending, message=_describe_interruption(attempt))
        if ending.outcome in _OF_THE_WHOLE:
            return ending
    if trigger is Trigger.INTERRUPTED:
        return _end_interrupted(attempt, None)
    against = health_checks.against_all(attempt)
    if trigger is Trigger.CONFIRMED and attempt.course.leg is Leg.FORWARD and against is not None:
        return Ending(Outcome.FAILED, against.reason, against.message)
    outcome = worst(ending.outcome for ending in deciding)
    alike = [ending for ending in deciding if ending.outcome is outcome]
    found = next(iter(alike), None)
    if found is not None and found.reason is Reason.SIBLING_FAILED and attempt.result.failures:
        found = _with_why_led_back(attempt, endings, found)
    is_good = outcome in WELL
    if found is None or (attempt.course.leg is Leg.BACK and is_good):
        found = _of_way_back(attempt)
    return _with_refusals(attempt, _with_doubt_of_run(attempt, found))


def _with_doubt_of_run(attempt: Attempt, whole: Ending) -> Ending:
    """Hold a check that stayed in doubt against the whole where it can be about no workload."""
    if whole.outcome not in WELL or health_checks.measures_any(attempt):
        return whole
    return _unless_in_doubt(attempt, None, whole.reason, whole.message)


def _with_why_led_back(attempt: Attempt, endings: FrozenMap[Ref, Ending], found: Ending) -> Ending:
    """Return as the end of the whole that of a Deployment which went back because another failed.

    Its reason is why the attempt went back. If `found` itself did not come back, the message and
    the causes say that too.
    """
    failure = failure_behind(attempt, None)
    whole = replace(failure, outcome=found.outcome)
    if found.outcome is not Outcome.ROLLBACK_FAILED:
        return whole
    failed = next(iter(attempt.result.failures))
    stuck = next(ref for ref, ending in endings.items() if ending is found)
    name = attempt.plan.name_of
    text = f"{name(failed)}: {failure.message}; {name(stuck)}: {found.message}"
    own = tuple(cause for cause in found.causes if cause.reason is not Reason.SIBLING_FAILED)
    return replace(whole, message=CleanText(text), causes=whole.causes + own)


def _is_beside(attempt: Attempt, ref: Ref, ending: Ending) -> bool:
    """Tell whether a workload was given up, or has nothing to go back to: unwritten, or left.

    Such a workload has no say in whether what was there before is back, and neither has one that
    nothing takes back, as a Job, nor one that came before the others and that somebody took away.
    """
    beside = {Outcome.REFUSED, Outcome.INCONCLUSIVE}
    if not has_way_back(ref):
        beside |= {Outcome.FAILED, Outcome.VERIFIED}
    if attempt.plan.phase_of(ref) is Phase.BEFORE:
        beside |= {Outcome.SUPERSEDED}
    is_dropped = ending.outcome is Outcome.REFUSED and ref in find_dropped(attempt)
    return is_dropped or (attempt.course.leg is Leg.BACK and ending.outcome in beside)


def _of_bare_objects(attempt: Attempt, trigger: Trigger) -> Ending:
    """Return the ending of a manifest without a Deployment, by its other objects."""
    if trigger is Trigger.DEPARTED and attempt.interference.lock_lost is not None:
        return _before_any_write(attempt, attempt.interference.lock_lost)
    if trigger is not Trigger.CONFIRMED:
        return _alike(attempt, trigger, None)
    if attempt.course.leg is Leg.FORWARD:
        against = health_checks.against_all(attempt)
        if against is not None:
            return Ending(Outcome.FAILED, against.reason, against.message)
        return _end_applied(attempt)
    return _of_way_back(attempt)


def _of_way_back(attempt: Attempt) -> Ending:
    """Return the ending of an attempt that went back.

    It is no rollback if only created objects, which stay, were to be taken back.
    """
    failure = failure_behind(attempt, None)
    if has_taken_back_nothing(attempt):
        return replace(failure, outcome=Outcome.FAILED)
    return replace(failure, outcome=Outcome.ROLLED_BACK)


def _end_applied(attempt: Attempt) -> Ending:
    """Return the ending of writes that no rollout follows: verified only if a check decides."""
    changed = any(written.changed for written in attempt.ledger.written.values())
    reason = Reason.COMPLETE if changed else Reason.NO_CHANGE
    if attempt.plan.command == "pause":
        names = ", ".join(map(attempt.plan.name_of, attempt.ledger.written))
        paused = next((kind_of(ref).pause_word for ref in attempt.ledger.written), "paused")
        text = f"{names} is {paused}" if changed else f"{names} was {paused} already"
        return Ending(Outcome.APPLIED, reason, CleanText(text))
    text = "applied" if changed else "nothing to change"
    if any(check.decides for check in attempt.plan.policy.checks):
        return _unless_in_doubt(attempt, None, reason, CleanText(text))
    text = f"{text}; not judged, since there is no workload to follow"
    return Ending(Outcome.APPLIED, reason, CleanText(text))


def _with_refusals(attempt: Attempt, whole: Ending) -> Ending:
    """Turn a success into a failed rollback if an object was refused: that leaves a mixture."""
    if not attempt.writes.refusals or whole.outcome not in (Outcome.ROLLED_BACK, Outcome.VERIFIED):
        return whole
    causes = tuple(
        refusal_cause(attempt.plan, refused) for refused in attempt.writes.refusals.values()
    )
    return replace(whole, outcome=Outcome.ROLLBACK_FAILED, causes=whole.causes + causes)


# -- one Deployment --------------------------------------------------------------------------------


def _ending(attempt: Attempt, trigger: Trigger, ref: Ref) -> Ending:
    if ref in attempt.interference.departures:
        return _before_any_write(attempt, _end_departed(attempt, ref))
    if trigger is Trigger.DEPARTED and attempt.interference.lock_lost is not None:
        lost = lock_ending(attempt, ref, attempt.interference.lock_lost)
        return _before_any_write(attempt, lost)
    if trigger not in (Trigger.CONFIRMED, Trigger.DEPARTED):
        return _alike(attempt, trigger, ref)
    if attempt.course.leg is Leg.BACK:
        return rollback_ending(attempt, ref)
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is None:
        return end_dropped(attempt, ref) or _end_needing(attempt, ref)
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


def _alike(attempt: Attempt, trigger: Trigger, ref: Ref | None) -> Ending:
    """Return the ending that all Deployments share: by a signal, lost contact or a refusal."""
    if trigger is Trigger.INTERRUPTED:
        return _end_interrupted(attempt, ref)
    if trigger is Trigger.REJECTED:
        ended = _end_rejected(attempt)
        is_part = ended.outcome is Outcome.FAILED
        if is_part and ref is not None and is_unwritten(attempt, ref):
            return end_unwritten(attempt, ref, ended)
        return ended
    trouble = attempt.interference.contact.trouble
    why = CleanText(trouble.why if trouble else "its budget ended while an answer was awaited")
    reason = trouble.reason if trouble else Reason.UNREACHABLE
    if attempt.plan.writes and not attempt.may_have_written:
        return Ending(Outcome.REFUSED, reason, why)
    failure = failure_behind(attempt, ref)
    if attempt.course.leg is Leg.FORWARD:
        return Ending(Outcome.LOST_CONTACT, reason, why)
    if trouble is None:
        return replace(failure, outcome=Outcome.ROLLBACK_FAILED, message=why)
    return Ending(Outcome.LOST_CONTACT, reason, why, failure.causes)


def _before_any_write(attempt: Attempt, ending: Ending) -> Ending:
    """Return `ending`, as a refusal if nothing was written yet."""
    if attempt.plan.writes and not attempt.may_have_written:
        return replace(ending, outcome=Outcome.REFUSED)
    return ending


def _end_interrupted(attempt: Attempt, ref: Ref | None) -> Ending:
    is_back, has_written = attempt.course.leg is Leg.BACK, attempt.may_have_written
    if (is_back or has_written) and ref is not None and is_unwritten(attempt, ref):
        text = CleanText(IN_DOUBT if is_in_doubt(attempt, ref) else "it was not written")
        return Ending(Outcome.INTERRUPTED, Reason.INTERRUPTED, text)
    causes = failure_behind(attempt, ref).causes if is_back else ()
    text = _describe_interruption(attempt)
    if ref is not None and not has_way_back(ref) and ref in attempt.ledger.written:
        text = CleanText(_describe_left_run(attempt, ref))
    return Ending(Outcome.INTERRUPTED, Reason.INTERRUPTED, text, causes)


def _describe_left_run(attempt: Attempt, ref: Ref) -> str:
    """Say how a signal left what runs to its end: nothing takes it back, whichever the leg."""
    rollout = attempt.workloads.rollouts.get(ref) or attempt.workloads.followed_before.get(ref)
    snapshot = rollout.snapshot if rollout is not None else attempt.workloads.snapshots.get(ref)
    live = snapshot.live if snapshot is not None else None
    has_ended = live is not None and kind_of(ref).has_ended(live)
    return "it had come to its end" if has_ended else "it was left as it is"


def _describe_interruption(attempt: Attempt) -> CleanText:
    """Say what a signal left of the attempt as a whole."""
    if attempt.course.leg is Leg.BACK:
        late = "the rollback was not written in time, wholly or in part"
        return CleanText(late if attempt.writes.queue else "the rollback was written, not verified")
    if attempt.may_have_written or not attempt.plan.writes:
        return CleanText("the rollout was left as it is")
    return CleanText("nothing was written")


def _end_rejected(attempt: Attempt) -> Ending:
    rejection = attempt.writes.rejection
    if rejection is None:
        return Ending(Outcome.INTERNAL_ERROR, Reason.INTERNAL_ERROR, CleanText("no rejection"))
    cause = refusal_cause(attempt.plan, rejection)
    if any(written.changed for written in attempt.ledger.written.values()):
        reason = reason_of_break(attempt, rejection)
        return Ending(Outcome.FAILED, reason, cause.message, (cause,))
    message = cause.message
    if attempt.writes.uncertain and rejection.reason is Reason.TIMEOUT:
        name = attempt.plan.name_of(rejection.ref)
        text = f"{name}: the answer to a write was lost, and nothing shows that it was done"
        return Ending(Outcome.LOST_CONTACT, Reason.UNREACHABLE, CleanText(text))
    if _taken_over(attempt, rejection.ref):
        message = CleanText(
            f"{message} (its fields were taken over, which changes nothing that runs)"
        )
    return Ending(Outcome.REFUSED, rejection.reason, message, (cause,))


def _taken_over(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an object's fields were taken over although its apply was not done."""
    ahead = [write.verb for write in attempt.writes.queue if write.ref == ref]
    planned = [write.verb for write in attempt.plan.writes if write.ref == ref]
    return Verb.TAKE_OVER in planned and Verb.TAKE_OVER not in ahead


def _end_departed(attempt: Attempt, ref: Ref) -> Ending:
    """Return the ending of a Deployment that others took over.

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
        return departure
    bad, rollout = (
        attempt.workloads.followed_before.get(ref),
        attempt.workloads.rollouts.get(ref),
    )
    live = rollout.snapshot.live if rollout is not None else None
    writer = name_writer(attempt.ledger.live.get(ref), live)
    if bad is None or live is None or not bad.still_ours(live):
        by = f" (by {writer})" if writer else ""
        return replace(departure, message=CleanText(f"{departure.message}{by}"))
    who = writer or "somebody else"
    message = CleanText(f"the failed version came back after the rollback: {who} applies it")
    causes = failure_behind(attempt, ref).causes
    return Ending(Outcome.ROLLBACK_FAILED, Reason.GITOPS_REVERTED, message, causes)


def _end_deleted(attempt: Attempt, ref: Ref, departure: Ending) -> Ending:
    """Return the ending of a deleted Deployment; its message says if it was created again."""
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    found = (
        rollout.applied.find_departure(live) if rollout is not None and live is not None else None
    )
    return departure if found is None else replace(departure, message=found.message)


def _verdict(attempt: Attempt, ref: Ref, rollout: Rollout) -> Verdict:
    """Return the verdict on a Deployment, its checks included."""
    found = rollout.verdict(attempt.now)
    return health_checks.combine_verdicts(found, health_checks.against(attempt).get(ref)) or found


def _forward(attempt: Attempt, ref: Ref, verdict: Verdict) -> Ending:
    match verdict.kind:
        case VerdictKind.COMPLETE:
            return _unless_in_doubt(attempt, ref, verdict.reason, verdict.message)
        case VerdictKind.FAILED:
            return Ending(Outcome.FAILED, verdict.reason, verdict.message, verdict.causes)
        case _:
            return _beside_failure(attempt, ref, verdict)


def _unless_in_doubt(
    attempt: Attempt, ref: Ref | None, reason: AnyReason, message: CleanText
) -> Ending:
    """Return the ending of what is complete.

    It is verified, if anything rolled, unless a check was inconclusive and the policy does not let
    that pass.
    """
    doubt = health_checks.doubt(attempt, ref)
    if doubt is None or attempt.plan.policy.response.on_inconclusive is OnInconclusive.PASS:
        return Ending(outcome_of(reason), reason, message)
    text = CleanText(f"{doubt.check}: {doubt.message}")
    return Ending(Outcome.INCONCLUSIVE, doubt.reason or Reason.CHECK_INCONCLUSIVE, text)


def _beside_failure(attempt: Attempt, ref: Ref, verdict: Verdict) -> Ending:
    """Return the ending of a Deployment under way when another's failure ended the attempt.

    The evidence against it at that time stays among its causes.
    """
    against = health_checks.against_all(attempt)
    if against is not None:
        return Ending(Outcome.FAILED, against.reason, against.message)
    own = attempt.workloads.rollouts[ref]
    causes = own.causes(attempt.now) if has_evidence(own, attempt.now) else ()
    for other, rollout in attempt.workloads.rollouts.items():
        ruled = _verdict(attempt, other, rollout)
        if ruled.kind is VerdictKind.FAILED:
            ending = beside_failure(attempt.plan, other, ruled)
            return replace(ending, causes=(*ending.causes, *causes))
    return Ending(Outcome.FAILED, verdict.reason, verdict.message, verdict.causes)
