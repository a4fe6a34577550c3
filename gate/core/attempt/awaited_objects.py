"""The objects beside the workloads that an attempt waits for, and what they have against it.

Before a write these are what it needs. Once all workloads are complete they are all objects that
were written, if the policy wants that.
"""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.model.readiness import NOT_THERE, UNJUDGED, Readiness, ReadinessKind
from gate.core.plan.leg import Leg
from gate.core.readiness.object_needs import CLAIM, kind_key, uses_claim
from gate.core.readiness.rules import may_change
from gate.core.rollout.policy import WaitFor
from gate.core.rollout.verdict import Verdict, VerdictKind

_UNREADY = (ReadinessKind.NOT_YET, ReadinessKind.FAILED)


def readiness_of(attempt: Attempt, ref: Ref) -> Readiness:
    """Return what the latest read or write of an object showed."""
    live = attempt.ledger.live.get(ref)
    return live.readiness if live is not None else NOT_THERE


def find_awaited(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects that are waited for now, in the order of application.

    Followed workloads are none of them: the judge waits for these.
    """
    if attempt.course.state is not State.AWAITING:
        return ()
    if not attempt.writes.queue:
        return find_unready(attempt)
    needs = (ref for ref in attempt.writes.queue[0].needs if attempt.plan.phase_of(ref) is None)
    return tuple(ref for ref in needs if readiness_of(attempt, ref).is_waited_for)


def find_unready(attempt: Attempt) -> tuple[Ref, ...]:
    """Return what was written and is not ready, or has to be read once more to tell."""
    if attempt.course.leg is Leg.BACK:
        return ()
    return tuple(
        ref
        for ref in _list_judged(attempt)
        if readiness_of(attempt, ref).is_waited_for or _is_unread(attempt, ref)
    )


def find_rechecked(attempt: Attempt) -> tuple[Ref, ...]:
    """Return what is read again while its readiness has to last: what has a status to tell it."""
    if attempt.course.leg is Leg.BACK or attempt.bake_seconds <= 0:
        return ()
    return tuple(
        ref
        for ref in _list_judged(attempt)
        if may_change(ref) or readiness_of(attempt, ref).kind is not ReadinessKind.UNJUDGED
    )


def objects_verdict(attempt: Attempt) -> Verdict | None:
    """Return what objects have against an attempt whose workloads were complete, None for nothing.

    That is the first which has failed, or is not ready when the wait is over.
    """
    wait, now = attempt.requests.wait, attempt.now
    if attempt.course.leg is Leg.BACK or attempt.writes.queue or wait.since > now:
        return None
    for ref in _list_judged(attempt):
        found = readiness_of(attempt, ref)
        is_failed = found.kind is ReadinessKind.FAILED and not _is_unread(attempt, ref)
        if is_failed or (found.is_waited_for and now >= attempt.objects_end_at):
            late = "" if is_failed else f" is not ready after {now - wait.since:.0f} s"
            text = CleanText(f"{attempt.plan.name_of(ref)}{late}: {found.why}")
            return Verdict(VerdictKind.FAILED, Reason.OBJECT_NOT_READY, text)
    return None


def conclude_objects(attempt: Attempt) -> dict[Ref, Readiness]:
    """Return what is known at the end of each object of the plan that is not followed.

    What the policy does not wait for, or was not ready before either, is not judged.
    """
    judged = set(_list_judged(attempt))
    found = {}
    for ref, written in attempt.ledger.written.items():
        if written.after.workload is None:
            known = readiness_of(attempt, ref)
            is_other = ref not in judged and known.kind in _UNREADY
            found[ref] = Readiness(ReadinessKind.UNJUDGED, known.why) if is_other else known
    return found


def _list_judged(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the objects that have to be ready: what was written here and is no workload.

    An object that was not ready before, and that this attempt did not change, is none of its
    doing. What somebody has deleted since is theirs.
    """
    if attempt.plan.policy.object_wait.wait_for is WaitFor.WORKLOADS:
        return ()
    return tuple(
        ref
        for ref, written in attempt.ledger.written.items()
        if written.after.workload is None
        and ref in attempt.ledger.live
        and (written.changed or _readiness_before(attempt, ref).kind not in _UNREADY)
        and not _is_idle(attempt, ref)
    )


def _is_idle(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a claim may stay unbound for ever, since none of our pods uses it.

    A class with `WaitForFirstConsumer` binds it to the first pod's node (storage/v1).
    """
    if kind_key(ref) != CLAIM or not readiness_of(attempt, ref).is_waited_for:
        return False
    others = attempt.ledger.written.values()
    return not any(uses_claim(one.after.body.thaw(), ref) for one in others)


def _readiness_before(attempt: Attempt, ref: Ref) -> Readiness:
    before = attempt.plan.before(ref)
    return before.readiness if before is not None else UNJUDGED


def _is_unread(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether only the answer to our write is known of a status that its controller writes."""
    return may_change(ref) and ref not in attempt.requests.wait.read
