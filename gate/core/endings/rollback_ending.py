"""How an attempt that went back ended for a workload: what serves again, and why it went back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.core.attempt.ending import Ending
from gate.core.attempt.left_open import is_without_answer
from gate.core.attempt.parts import Rejection
from gate.core.attempt.pod_replacement import LEFT, Stage
from gate.core.attempt.state import Attempt
from gate.core.endings.pods_before_run import describe_pods_before
from gate.core.endings.unwritten import (
    ENDED_UNSEEN,
    end_awaited,
    end_late,
    end_unwritten,
    has_gone,
    is_unwritten,
    may_have_gone,
    say_may_have_gone,
)
from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import TAKEN_OVER, Outcome, Reason, outcome_of
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.plan import Plan
from gate.core.rollout.causes import Cause
from gate.core.rollout.controller_faults import cause_of_pod_left
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.writes.authorship import name_changers, name_writer
from gate.core.writes.failure_response import FailureResponse, find_response
from gate.core.writes.way_out import became_theirs

_OF_THE_TOTAL: Final = (Reason.TIMEOUT, Reason.PROGRESS_DEADLINE_EXCEEDED)
"""Why the only clock of a way back ended it; the message begins with `not complete within`."""


def rollback_ending(attempt: Attempt, ref: Ref) -> Ending:
    """Return the ending of a workload after the way back, by its present state.

    Each was read just before, even if the way back of another one failed: what is complete is
    back.
    """
    if not has_way_back(ref):
        return _end_lasting(attempt, ref)
    if ref in attempt.writes.refusals:
        return _refused_back(attempt, ref, attempt.writes.refusals[ref])
    late = end_late(attempt, ref, failure_behind(attempt, ref))
    if late is not None:
        return late
    written = attempt.ledger.written.get(ref)
    if became_theirs(attempt, ref) or (written is not None and written.merged):
        return end_superseded(attempt, ref, causes_behind(attempt, ref))
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is None:
        return _not_followed(attempt, ref)
    verdict = with_refused_removals(attempt, ref, rollout.verdict(attempt.now))
    failure = failure_behind(attempt, ref)
    left = tuple(_find_failed_pods_left(attempt, ref, verdict))
    if verdict.kind is VerdictKind.COMPLETE and not left:
        untouched = ref not in attempt.ledger.restored and ref not in attempt.result.failures
        if untouched and is_unwritten(attempt, ref):
            return end_unwritten(attempt, ref, failure)
        if untouched:
            return Ending(outcome_of(verdict.reason), verdict.reason, verdict.message)
        return replace(failure, outcome=Outcome.ROLLED_BACK)
    text = _describe_standstill(attempt, rollout, verdict)
    held = (Cause(verdict.reason, verdict.message),) if verdict.reason is Reason.PAUSED else ()
    beside = tuple(_iter_refused_beside(attempt))
    causes = tuple(dict.fromkeys(failure.causes + held + left + verdict.causes + beside))
    return replace(failure, outcome=Outcome.ROLLBACK_FAILED, message=text, causes=causes)


def _describe_standstill(attempt: Attempt, rollout: Rollout, verdict: Verdict) -> CleanText:
    """Say why a way back did not complete; a recovery did not see what was before it."""
    said = f"did not complete: {verdict.reason}: {verdict.message}"
    if verdict.reason in _OF_THE_TOTAL:
        said = f"was {verdict.message}"
    before = ""
    if attempt.plan.resumed is None:
        found = attempt.plan.target(rollout.ref).snapshot
        before = describe_pods_before(found, rollout.snapshot)
    return CleanText(f"the rollback {said}{before}")


def with_refused_removals(attempt: Attempt, ref: Ref, verdict: Verdict) -> Verdict:
    """Return a verdict whose causes say of a pod in the way why the server did not let it go."""
    refused = {
        f"pod/{one.pod}": one
        for one in attempt.workloads.replacements.values()
        if one.workload == ref and one.stage in LEFT
    }
    message, causes = verdict.message, []
    for cause in verdict.causes:
        said = cause.message
        if cause.reason is Reason.BLOCKED_BY_POD and cause.subject in refused:
            one = refused[cause.subject]
            how = "has no answer" if one.stage is Stage.UNANSWERED else "is refused"
            said = CleanText(f"{said}; its removal {how}: {one.message}")
        message = said if message == cause.message else message
        causes.append(replace(cause, message=said))
    return replace(verdict, message=message, causes=tuple(causes))


def _find_failed_pods_left(attempt: Attempt, ref: Ref, verdict: Verdict) -> Iterator[Cause]:
    """Yield which pod that took what failed is to be deleted, where nothing replaces it (OnDelete).

    Others of its revision are named beside it. Those that ran it before the attempt are as they
    were.
    """
    written, rollout = attempt.ledger.written.get(ref), attempt.workloads.rollouts[ref]
    tried = written.after if written is not None else attempt.plan.trial(ref)
    if verdict.reason is not Reason.NO_ROLLOUT or tried is None or tried.workload is None:
        return
    body, snapshot = tried.workload.template.body, rollout.snapshot
    failed = (one for one in snapshot.list_owned() if one.template.body == body)
    for one in failed:
        key = rollout.kind.key_of_revision(one)
        pods = [each.pod for each in snapshot.pods_of(one) if snapshot.has_moved(each.pod, key)]
        if pods:
            yield cause_of_pod_left(min(pods, key=lambda pod: (pod.ready, pod.name)), pods)


def _end_lasting(attempt: Attempt, ref: Ref) -> Ending:
    """Return the ending of what nothing takes back, as a Job: as it was when the rest went back."""
    failure = failure_behind(attempt, ref)
    if ref in attempt.result.failures:
        return failure
    awaited = end_awaited(attempt, ref)
    if awaited is not None:
        return awaited
    if may_have_gone(attempt, ref):
        text = say_may_have_gone(attempt, ref)
        return replace(failure, outcome=Outcome.INCONCLUSIVE, message=text)
    if has_gone(attempt, ref):
        return replace(failure, outcome=Outcome.INCONCLUSIVE, message=ENDED_UNSEEN)
    if is_unwritten(attempt, ref):
        return end_unwritten(attempt, ref, failure)
    if attempt.plan.resumed is not None and ref not in attempt.ledger.written:
        return replace(failure, outcome=Outcome.REFUSED, message=CleanText("it was not written"))
    rollout = attempt.workloads.followed_before.get(ref)
    ruled = rollout.ruling(attempt.now) if rollout is not None else None
    if ruled is not None and ruled.kind is VerdictKind.COMPLETE:
        return Ending(outcome_of(ruled.reason), ruled.reason, ruled.message)
    return failure


def end_superseded(attempt: Attempt, ref: Ref, causes: tuple[Cause, ...]) -> Ending:
    """Return the ending of what others took over before it was written; `causes` led to the end."""
    before, read = attempt.plan.before(ref), attempt.ledger.live.get(ref)
    there_before = before is not None
    reason, did = (Reason.SUPERSEDED, "changed" if there_before else "created")
    if ref not in attempt.ledger.live:
        reason, did = (Reason.DELETED, "deleted")
    by = f" (by {writer})" if (writer := _name_writer(before, read)) else ""
    message = CleanText(f"somebody else {did} it before it was written{by}")
    return Ending(Outcome.SUPERSEDED, reason, message, causes)


def _name_writer(before: LiveObject | None, read: LiveObject | None) -> str:
    """Name who changed the pod template between two reads, "" if it is the same or not known."""
    if read is None or read.workload is None:
        return ""
    if before is not None and before.workload is not None:
        is_same = before.workload.template.body == read.workload.template.body
        return "" if is_same else name_changers(before, read) or name_writer(read, read.workload)
    return name_writer(read, read.workload)


def _refused_back(attempt: Attempt, ref: Ref, refused: Rejection) -> Ending:
    """Return the ending of a workload whose way back was refused.

    That is a failed rollback if it was to return, or if it is left to be done: a pause that the
    server refused for good is no rollback.
    """
    failure = failure_behind(attempt, ref)
    is_failed_rollback = _returns(attempt, ref) or is_without_answer(refused)
    outcome = Outcome.ROLLBACK_FAILED if is_failed_rollback else Outcome.FAILED
    return replace(
        failure, outcome=outcome, causes=(*failure.causes, way_back_cause(attempt, refused))
    )


def _not_followed(attempt: Attempt, ref: Ref) -> Ending:
    """Return the ending of what the way back does not follow: paused, scaled, deleted or kept."""
    failure, written = failure_behind(attempt, ref), attempt.ledger.written.get(ref)
    if written is None and attempt.plan.resumed is not None:
        return _as_found(attempt, ref, failure)
    if written is None and _is_gone(attempt, ref):
        text = CleanText("somebody else deleted it before it was written")
        return Ending(Outcome.SUPERSEDED, Reason.DELETED, text)
    if written is None and is_unwritten(attempt, ref):
        return end_unwritten(attempt, ref, failure)
    if written is None:
        return _never_written(failure)
    if ref in attempt.ledger.deleted and attempt.plan.policy.response.prune_created:
        return replace(failure, outcome=Outcome.ROLLED_BACK)
    if attempt.plan.phase_of(ref) is Phase.BEFORE:
        return _end_first(attempt, failure)
    if written.created and takes_back_part(attempt):
        return _end_created(attempt, ref, failure)
    stood = attempt.workloads.followed_before.get(ref)
    ruled = stood.ruling(attempt.course.leg_at) if stood is not None else None
    is_paused = attempt.plan.policy.response.on_failure is OnFailure.PAUSE
    stays = not written.changed or (is_paused and ref not in attempt.result.failures)
    if stays and ruled is not None and ruled.kind is VerdictKind.COMPLETE:
        return Ending(outcome_of(ruled.reason), ruled.reason, ruled.message)
    return failure


def _end_first(attempt: Attempt, failure: Ending) -> Ending:
    """Return the ending of a workload that came before the others, which were not written.

    What it did stays; the others are as they were, if there were any.
    """
    others = (one.ref for one in attempt.plan.targets if one.phase is not Phase.BEFORE)
    is_back = any(attempt.plan.before(ref) is not None for ref in others)
    if is_back or not has_taken_back_nothing(attempt):
        return replace(failure, outcome=Outcome.ROLLED_BACK)
    return failure


_OF_A_BREAK: Final = (Reason.APPLY_REJECTED, Reason.DELETED, *TAKEN_OVER)
"""Why an apply ended before its last write, other than by a failure or the gate's end."""


def takes_back_part(attempt: Attempt) -> bool:
    """Tell whether an incomplete apply is taken back, rather than a version that failed.

    A gate that died did not record why, but its record shows what it was to write and did not. If
    it died on its way back, only unreached objects and those it was to create show that: all else
    is as before in either case.
    """
    why, resumed = attempt.result.why_back, attempt.plan.resumed
    if attempt.result.failures or why is None:
        return False
    if why.reason in _OF_A_BREAK:
        return True
    if why.reason is not Reason.INTERRUPTED or resumed is None:
        return False
    was_forward = resumed.record.leg is Leg.FORWARD
    return any(
        kept.changes
        and kept.ref not in attempt.ledger.written
        and (was_forward or not kept.reach.is_known_written or not kept.uid)
        for kept in resumed.record.objects
    )


def has_taken_back_nothing(attempt: Attempt) -> bool:
    """Tell whether an attempt that went back had nothing to restore or delete, though it wrote.

    It had only created objects, which stay. If a write back was refused, or others have since
    changed all that was written, there was something to take back.
    """
    ledger = attempt.ledger
    if ledger.restored or ledger.deleted or attempt.writes.refusals:
        return False
    return any(
        written.changed and has_way_back(ref) and ref not in ledger.left_to_others
        for ref, written in ledger.written.items()
    )


def _never_written(failure: Ending) -> Ending:
    """Return the ending of what was never written: it is as it was, or does not exist."""
    return replace(failure, outcome=Outcome.REFUSED)


def _end_created(attempt: Attempt, ref: Ref, failure: Ending) -> Ending:
    """Return the ending of a workload that this attempt created, of an incomplete apply.

    It stays, as other created objects do, and nobody knows whether it works. If it was deleted, all
    is as before. If nothing went back, all that was written stays.
    """
    if ref in attempt.ledger.deleted:
        return replace(failure, outcome=Outcome.ROLLED_BACK)
    if not attempt.ledger.restored:
        return failure
    return replace(failure, outcome=Outcome.INCONCLUSIVE)


def _is_gone(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload that existed before the attempt is known to be gone."""
    snapshot, found = attempt.workloads.snapshots.get(ref), attempt.plan.target(ref).snapshot
    is_absent = snapshot is not None and isinstance(snapshot.workload, Absent)
    return found.live is not None and is_absent


def _as_found(attempt: Attempt, ref: Ref, failure: Ending) -> Ending:
    """Return the ending of what a dead gate had taken back or never written, as it was found.

    If nothing is there, there is no version. A workload that existed before, serving or not, is
    as it was, which is no return if it did not serve, nor if a failure kept it from being written.
    A part of an apply that may not be taken back stays, although this workload was never written.
    """
    snapshot = attempt.workloads.snapshots.get(ref)
    live = snapshot.live if snapshot is not None else None
    is_as_before = (live.uid if live is not None else "") == _uid_before(attempt, ref)
    if is_as_before and attempt.result.failures and is_unwritten(attempt, ref):
        return end_unwritten(attempt, ref, failure)
    policy = attempt.plan.policy
    if (
        policy.response.on_failure is not OnFailure.ROLLBACK
        and not policy.response.takes_back_parts
    ):
        return failure
    if has_taken_back_nothing(attempt):
        return failure
    stayed = is_as_before and live is not None
    if stayed and ref in attempt.plan.target_set.obstacles and takes_back_part(attempt):
        return _never_written(failure)
    if stayed or isinstance(attempt.plan.target(ref).baseline, Known):
        return replace(failure, outcome=Outcome.ROLLED_BACK)
    if live is None:
        took_back = takes_back_part(attempt) and (attempt.ledger.restored or attempt.ledger.deleted)
        return _never_written(failure) if took_back else failure
    message = CleanText("somebody else created it again since that attempt began")
    return Ending(Outcome.SUPERSEDED, Reason.SUPERSEDED, message)


def _uid_before(attempt: Attempt, ref: Ref) -> str:
    """Return the uid that the dead gate had found, "" if there was nothing."""
    resumed = attempt.plan.resumed
    kept = resumed.record.objects if resumed is not None else ()
    return next((one.uid for one in kept if one.ref == ref), "")


def _returns(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a failure was to take `ref` back to what it was."""
    baseline = attempt.plan.target(ref).baseline
    return attempt.plan.policy.response.on_failure is OnFailure.ROLLBACK and isinstance(
        baseline, Known
    )


def failure_behind(attempt: Attempt, ref: Ref | None) -> Ending:
    """Return why the attempt went back: this workload's failure, another one's, or what else."""
    if ref is not None and ref in attempt.result.failures:
        return attempt.result.failures[ref]
    for other, failure in attempt.result.failures.items():
        return failure if ref is None else beside_failure(attempt.plan, other, failure)
    if attempt.result.why_back is not None:
        return attempt.result.why_back
    return Ending(Outcome.FAILED, Reason.INTERNAL_ERROR, CleanText("it was not followed"))


def causes_behind(attempt: Attempt, ref: Ref) -> tuple[Cause, ...]:
    """Return as causes why the attempt went back, for a workload that ends for another reason."""
    failure = failure_behind(attempt, ref)
    if any(cause.reason is failure.reason for cause in failure.causes):
        return failure.causes
    return (Cause(failure.reason, failure.message), *failure.causes)


def beside_failure(plan: Plan, other: Ref, failure: Ending | Verdict) -> Ending:
    """Return the ending of a workload without fault of its own, for the failure of another."""
    text = CleanText(f"{plan.name_of(other)} failed: {failure.reason}: {failure.message}")
    cause = Cause(Reason.SIBLING_FAILED, text)
    return Ending(Outcome.FAILED, Reason.SIBLING_FAILED, text, (cause,))


def _iter_refused_beside(attempt: Attempt) -> Iterator[Cause]:
    """Yield what was to go back with the workloads and did not, for want of a usable answer."""
    followed = {target.ref for target in attempt.plan.targets}
    for ref, refused in attempt.writes.refusals.items():
        if ref not in followed and is_without_answer(refused):
            yield way_back_cause(attempt, refused)


def way_back_cause(attempt: Attempt, refused: Rejection) -> Cause:
    """Return as a cause what the way back could not do, by name where it was no restoration."""
    cause, response = refusal_cause(attempt.plan, refused), find_response(attempt, refused)
    if response is FailureResponse.RESTORE:
        return cause
    name = attempt.plan.name_of(refused.ref)
    text = f"{name} could not be {response}: {refused.message}"
    return replace(cause, message=CleanText(text))


def refusal_cause(plan: Plan, rejection: Rejection) -> Cause:
    """Return as a cause what the server refused, or which object was needed and is not ready."""
    name = plan.name_of(rejection.ref)
    subject = name if rejection.reason is Reason.OBJECT_NOT_READY else ""
    return Cause(rejection.reason, CleanText(f"{name}: {rejection.message}"), subject=subject)
