"""Says in words what the last look found: which objects are not as the attempt left them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.core.attempt.last_look import Finding, FindingKind
from gate.core.attempt.state import Attempt
from gate.core.endings.terminating_namespaces import describe_terminating_namespaces
from gate.core.kinds.registry import kind_of
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg

_MOST_PATHS = 3
_NOT_WAITED_FOR = (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
"""Outcomes that already say that nobody has looked."""


def differences(attempt: Attempt) -> Iterator[str]:
    """Yield one line for each object, and for each namespace that goes, for a reader to know."""
    yield from describe_terminating_namespaces(attempt)
    for ref in attempt.ledger.findings:
        line = difference(attempt, ref)
        if line:
            yield line


def difference(attempt: Attempt, ref: Ref) -> str:
    """Say how an object differs from what was left, "" if it does not.

    "", too, for a workload that somebody else has taken over: the verdict itself reports that;
    and for a Job that went after its end, as its time to live may have it.
    """
    found, name = attempt.ledger.findings[ref], attempt.plan.name_of(ref)
    is_taken = ref in attempt.interference.departures and found.kind is not FindingKind.WRITTEN_LATE
    if is_taken or _is_gone_after_its_end(attempt, ref):
        return ""
    if ref in attempt.ledger.deleted:
        return _after_deletion(name, found)
    if found.kind is FindingKind.AS_WRITTEN:
        return _leftover(attempt, ref)
    if found.kind is FindingKind.UNREAD and attempt.outcome in _NOT_WAITED_FOR:
        return ""
    if ref in attempt.ledger.left_to_others and attempt.course.leg is Leg.BACK:
        return _left_alone(name, found)
    return _differing(name, found, "restored" if ref in attempt.ledger.restored else "wrote")


def _is_gone_after_its_end(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload had run to its end before it went: nothing says who deleted it."""
    if attempt.ledger.findings[ref].kind not in (FindingKind.DELETED, FindingKind.BEING_DELETED):
        return False
    rollout = attempt.workloads.rollouts.get(ref) or attempt.workloads.followed_before.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    return live is not None and kind_of(ref).has_ended(live)


def _after_deletion(name: str, found: Finding) -> str:
    """Say what became of an object that this attempt deleted, "" if it is gone."""
    match found.kind:
        case FindingKind.DELETED:
            return ""
        case FindingKind.RECREATED:
            return f"{name} was deleted by this run, and {_who(found)} created it again"
        case FindingKind.UNREAD:
            return f"{name} was deleted by this run; whether it is gone could not be read"
        case _:
            return f"{name} is not gone yet, though this run deleted it: {_waiting(found)}"


def _leftover(attempt: Attempt, ref: Ref) -> str:
    """Say what is still as this attempt wrote it although others took over the rest, else ""."""
    ours, name = attempt.ledger.written.get(ref), attempt.plan.name_of(ref)
    if ref in attempt.ledger.left_to_others and ours is not None and ours.created:
        return f"{name} was not deleted: somebody else has changed it, or put something into it"
    if ref in attempt.ledger.left_to_others and ours is None:
        return _left_alone(name, Finding(FindingKind.UNREAD))
    if ref in attempt.ledger.left_to_others:
        return f"{name} has what this run wrote again; somebody else had changed it meanwhile"
    if attempt.outcome is not Outcome.SUPERSEDED or ref in attempt.ledger.restored:
        return ""
    if ours is None or not ours.changed:
        return ""
    targets = {target.ref for target in attempt.plan.targets}
    if attempt.interference.lock_lost is not None:
        return f"{name} still has what this run wrote"
    if ref in targets or not attempt.interference.departures:
        return ""
    departed = attempt.interference.departures
    gone = [attempt.plan.name_of(one) for one in departed if _is_gone(attempt, one)]
    going = [attempt.plan.name_of(one) for one in departed if _is_going(attempt, one)]
    theirs = [
        name_of
        for one, departure in departed.items()
        if (name_of := attempt.plan.name_of(one)) not in (*gone, *going)
        and departure.reason in (Reason.SUPERSEDED, Reason.DELETED)
    ]
    left = f"{name} still has what this run wrote"
    if theirs:
        return f"{left}, beside somebody else's {_and(theirs)}"
    if gone:
        return f"{left}, though {_and(gone)} is gone"
    return f"{left}, though {_and(going)} is being deleted" if going else ""


def _is_gone(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload no longer exists, by the last read of it."""
    found = attempt.ledger.findings.get(ref)
    if found is not None and found.kind is not FindingKind.UNREAD:
        return found.kind is FindingKind.DELETED
    return attempt.interference.departures[ref].reason is Reason.DELETED


def _is_going(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload was being deleted at the last read of it."""
    found = attempt.ledger.findings.get(ref)
    return found is not None and found.kind is FindingKind.BEING_DELETED


def _left_alone(name: str, found: Finding) -> str:
    """Say what somebody else had changed or deleted before the rollback reached it."""
    match found.kind:
        case FindingKind.DELETED:
            return f"{name} was deleted by somebody else before the rollback; it was left so"
        case FindingKind.CHANGED:
            who = _who(found)
            return f"{name} was left alone: {who} changed {_fields(found)} before the rollback"
        case FindingKind.UNREAD:
            return f"{name} was changed by somebody else meanwhile, and left alone"
        case _:
            return _differing(name, found, "wrote")


def _differing(name: str, found: Finding, did: str) -> str:
    match found.kind:
        case FindingKind.DELETED:
            return f"{name} is gone: somebody else deleted it after this run {did} it"
        case FindingKind.BEING_DELETED:
            return f"{name} is being deleted by somebody else: {_waiting(found)}"
        case FindingKind.RECREATED:
            who = _who(found)
            return f"{name} was deleted after this run {did} it, and {who} created it again"
        case FindingKind.NOT_AS_SENT:
            what = f"the server keeps another {_fields(found)} than was sent"
            return f"{name} was not restored: {what} (an admission webhook may set it)"
        case FindingKind.WRITTEN_LATE:
            return f"{name} was written after all, too late to be taken back"
        case FindingKind.UNREAD:
            return f"{name} could not be read again after this run {did} it: {found.why}"
        case _:
            return f"{name} is not as this run {did} it: {_who(found)} changed {_fields(found)}"


def _who(found: Finding) -> str:
    return _and(found.managers) if found.managers else "somebody whom the object does not name"


def _waiting(found: Finding) -> str:
    if not found.finalizers:
        return "it still exists"
    many = "finalizers" if len(found.finalizers) > 1 else "finalizer"
    return f"it waits for the {many} {_and(found.finalizers)}"


def _fields(found: Finding) -> str:
    """Name a few of the fields that differ; "it" if they are not known."""
    paths = found.paths
    more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
    return ", ".join(paths[:_MOST_PATHS]) + more or "it"


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
