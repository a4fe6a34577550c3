"""How an attempt ended as a whole, and for each workload.

This is decided on entering INSPECTING, or CLOSING if nothing is inspected.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt import check_conclusions, check_subjects
from gate.core.attempt.awaited_objects import conclude_objects
from gate.core.attempt.ending import Ending
from gate.core.attempt.left_open import is_without_answer
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import Trigger
from gate.core.endings.rollback_ending import (
    failure_behind,
    has_taken_back_nothing,
    way_back_cause,
)
from gate.core.endings.shared_ending import (
    describe_interruption,
    end_alike,
    end_interrupted,
    end_rejected,
    refused_before_writes,
)
from gate.core.endings.unclear_answer import with_answer
from gate.core.endings.workload_ending import end_workload, unless_in_doubt
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import WELL, Outcome, Reason, worst
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.writes.lost_needs import find_dropped

_OF_THE_WHOLE = (Outcome.INTERRUPTED, Outcome.REFUSED)
"""Outcomes that apply to all workloads alike."""
_OF_SIBLINGS = (Reason.SIBLING_FAILED, Reason.SIBLING_LOCKED)
"""Reasons of a workload that ended because of what happened to another one."""


def with_endings(attempt: Attempt, trigger: Trigger) -> Attempt:
    """Return the attempt with its endings; `trigger` is what ends it."""
    attempt = replace(
        attempt, health=replace(attempt.health, concluded=check_conclusions.conclusions(attempt))
    )
    endings = FrozenMap(
        (ref, with_answer(attempt, trigger, end_workload(attempt, trigger, ref)))
        for ref in (target.ref for target in attempt.plan.targets)
    )
    whole = _whole(attempt, trigger, endings)
    if whole not in endings.values():
        whole = with_answer(attempt, trigger, whole)
    judged = whole
    if attempt.plan.policy.observe and whole.outcome not in _OF_THE_WHOLE:
        whole = replace(whole, outcome=Outcome.OBSERVED)
    objects = FrozenMap(conclude_objects(attempt))
    result = replace(attempt.result, endings=endings, ending=whole, judged=judged, objects=objects)
    return replace(attempt, result=result)


def _whole(attempt: Attempt, trigger: Trigger, endings: FrozenMap[Ref, Ending]) -> Ending:
    if not endings:
        return _with_refusals(attempt, _of_bare_objects(attempt, trigger))
    if trigger is Trigger.REJECTED:
        theirs = (one for one in endings.values() if one.outcome is Outcome.SUPERSEDED)
        return next(theirs, end_rejected(attempt))
    serving_first = sorted(endings.items(), key=lambda one: not has_way_back(one[0]))
    deciding = [one for ref, one in serving_first if not _is_beside(attempt, ref, one)]
    deciding.sort(key=lambda ending: ending.reason in _OF_SIBLINGS)
    for ending in deciding:
        if ending.outcome is Outcome.INTERRUPTED:
            return replace(ending, message=describe_interruption(attempt))
        if ending.outcome in _OF_THE_WHOLE:
            return ending
    if trigger is Trigger.INTERRUPTED:
        return end_interrupted(attempt, None)
    against = check_conclusions.find_against_all(attempt)
    if trigger is Trigger.CONFIRMED and attempt.course.leg is Leg.FORWARD and against is not None:
        return Ending.of_failure(against)
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
    if whole.outcome not in WELL or check_subjects.measures_any(attempt):
        return whole
    return unless_in_doubt(attempt, None, whole.reason, whole.message)


def _with_why_led_back(attempt: Attempt, endings: FrozenMap[Ref, Ending], found: Ending) -> Ending:
    """Return as the end of the whole that of a workload which went back because another failed.

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
    """Return the ending of a manifest without a workload, by its other objects."""
    if trigger is Trigger.DEPARTED and attempt.interference.lock_lost is not None:
        return refused_before_writes(attempt, attempt.interference.lock_lost)
    if trigger is not Trigger.CONFIRMED:
        return end_alike(attempt, trigger, None)
    if attempt.course.leg is Leg.FORWARD:
        against = check_conclusions.find_against_all(attempt)
        if against is not None:
            return Ending.of_failure(against)
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
        return unless_in_doubt(attempt, None, reason, CleanText(text))
    text = f"{text}; not judged, since there is no workload to follow"
    return Ending(Outcome.APPLIED, reason, CleanText(text))


def _with_refusals(attempt: Attempt, whole: Ending) -> Ending:
    """Turn a success into a failed rollback if an object was refused: that leaves a mixture.

    So does a write that is left for want of a usable answer, beside a failure that stays.
    """
    refusals = tuple(attempt.writes.refusals.values())
    if whole.outcome is Outcome.FAILED:
        refusals = tuple(filter(is_without_answer, refusals))
    elif whole.outcome not in (Outcome.ROLLED_BACK, Outcome.VERIFIED):
        return whole
    if not refusals:
        return whole
    causes = tuple(way_back_cause(attempt, refused) for refused in refusals)
    return replace(whole, outcome=Outcome.ROLLBACK_FAILED, causes=whole.causes + causes)
