"""What an attempt did to each object, and its way back, if it took one."""

from __future__ import annotations

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.state import Attempt
from gate.core.endings.coverage import Coverage, coverage_of
from gate.core.endings.unwritten import has_gone, may_have_gone
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.model.outcome import AnyReason, Outcome, Reason
from gate.core.plan.kept_otherwise import find_kept_otherwise
from gate.core.plan.leg import Leg
from gate.core.plan.rollback_plan import why_not_restored, writes_back
from gate.core.protocol.effects import Write
from gate.core.writes.authorship import find_own_result
from gate.core.writes.failure_response import find_response
from gate.core.writes.order import answers_lost
from gate.core.writes.results import has_restored, has_written_back
from gate.core.writes.returned_by_others import find_new_owners
from gate.report.document.changes import MOST_PATHS, changed_paths
from gate.report.document.run import Run, seconds
from gate.report.schema.result import Action, AtEnd, ChangedPath, ObjectResult, RollbackResult
from gate.wire.untrusted import clean_line


def objects(attempt: Attempt, run: Run) -> list[ObjectResult]:
    """Return every object of the manifest; a workload followed without a write is "unchanged".

    A command without a manifest also plans objects that it would only return: they are left out
    if nothing was done to them. What the way back was refused is there, whoever planned it.
    """
    refs = dict.fromkeys(one.ref for one in attempt.plan.objects if _is_concerned(attempt, one.ref))
    refs.update(dict.fromkeys(target.ref for target in attempt.plan.targets))
    refs.update(dict.fromkeys(attempt.writes.refusals))
    return [_object(attempt, ref, run) for ref in refs]


def _is_concerned(attempt: Attempt, ref: Ref) -> bool:
    plan, ledger, writes = attempt.plan, attempt.ledger, attempt.writes
    if plan.resumed is not None or any(write.ref == ref for write in plan.writes):
        return True
    return any(ref in done for done in (ledger.written, ledger.left_to_others, writes.refusals))


def _object(attempt: Attempt, ref: Ref, run: Run) -> ObjectResult:
    coverage = coverage_of(attempt, ref)
    file, line = run.places.get(ref, ("", 0))
    refused = attempt.writes.refusals.get(ref)
    return {
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "action": _action(attempt, ref),
        "at_end": _at_end(attempt, ref),
        "judged": coverage is Coverage.JUDGED,
        "coverage": coverage.value,
        "file": file,
        "line": line,
        "changes": _changes(attempt, ref),
        "irreversible": _irreversible(attempt, ref),
        "not_restored": refused.reason.value if refused is not None else "",
        "was_to_be": find_response(attempt, refused).value if refused is not None else "",
        "kept_otherwise": _kept_otherwise(attempt, ref),
    }


def _kept_otherwise(attempt: Attempt, ref: Ref) -> list[str]:
    """Name the fields that the server kept with other values than were applied; at most 50."""
    written = attempt.ledger.written.get(ref)
    paths = find_kept_otherwise(attempt.plan, written.after) if written is not None else ()
    return list(paths[:MOST_PATHS])


def _irreversible(attempt: Attempt, ref: Ref) -> str:
    refused = attempt.writes.refusals.get(ref)
    if refused is not None and refused.reason is Reason.IRREVERSIBLE:
        return refused.message
    planned = next((one.irreversible for one in attempt.plan.objects if one.ref == ref), "")
    written = attempt.ledger.written.get(ref)
    # If no failure was to take anything back, nobody asked before the write.
    if planned or written is None:
        return planned
    found = attempt.ledger.findings.get(ref)
    return why_not_restored(written) or (found.irreversible if found is not None else "")


def _changes(attempt: Attempt, ref: Ref) -> list[ChangedPath]:
    """Return what the apply changed; a created object is not listed field by field.

    What others set just before it, and still own alone, is none of its changes.
    """
    written = attempt.ledger.written.get(ref)
    if written is None or written.before is None or not written.changed:
        return []
    if written.met is not None:
        return changed_paths(written.met.body, written.after.body)
    return changed_paths(written.before.body, find_own_result(written))


def _at_end(attempt: Attempt, ref: Ref) -> AtEnd | None:
    found = attempt.ledger.findings.get(ref)
    if found is None:
        return None
    return {
        "state": found.kind.value,
        "managers": [clean_line(name) for name in found.managers or _find_owners(attempt, ref)],
        "fields": [clean_line(path) for path in found.paths[:MOST_PATHS]],
        "finalizers": [clean_line(name) for name in found.finalizers],
    }


def _find_owners(attempt: Attempt, ref: Ref) -> tuple[str, ...]:
    """Return whom the next apply conflicts with although the object is as it was left."""
    is_as_left = attempt.ledger.findings[ref].kind is FindingKind.AS_WRITTEN
    return find_new_owners(attempt, ref) if is_as_left else ()


_GONE = (FindingKind.DELETED, FindingKind.RECREATED, FindingKind.UNREAD)
"""Findings on an object deleted by this attempt that do not show that it still exists."""


def _action(attempt: Attempt, ref: Ref) -> Action:
    found = attempt.ledger.findings.get(ref)
    if ref in attempt.ledger.deleted:
        return "deleted" if found is None or found.kind in _GONE else "deleting"
    if (found is not None and found.kind is FindingKind.DELETED) or has_gone(attempt, ref):
        return "gone"
    if ref in attempt.ledger.left_to_others:
        return "left"
    if ref in attempt.ledger.restored:
        return "restored" if has_restored(attempt, ref) else "kept"
    if found is not None and found.kind is FindingKind.WRITTEN_LATE:
        return "created" if _is_new(attempt, ref) else "changed"
    is_in_doubt = ref in answers_lost(attempt) or may_have_gone(attempt, ref)
    return "in-doubt" if is_in_doubt else _action_out(attempt, ref)


def _action_out(attempt: Attempt, ref: Ref) -> Action:
    """Return what was done to an object on the way out, which nothing took back."""
    written = attempt.ledger.written.get(ref)
    if written is None:
        return "unchanged"
    if not written.changed:
        return "changed" if ref in attempt.ledger.patched else "unchanged"
    if attempt.ledger.restored:
        return "kept"
    return "created" if written.created else "changed"


def _is_new(attempt: Attempt, ref: Ref) -> bool:
    return attempt.plan.before(ref) is None


def rollback(attempt: Attempt, run: Run) -> RollbackResult | None:
    """Describe the way back; None if none was decided or it had nothing old to restore."""
    if attempt.course.leg is not Leg.BACK or not _goes_back(attempt):
        return None
    at = attempt.writes.rollback_written_at if _is_written_back(attempt) else None
    end, since = attempt.result.verdict_at or attempt.now, attempt.course.leg_at
    return {
        "reason": _rollback_reason(attempt).value,
        "written_at": run.times.at(at) if at is not None else "",
        "verified": _verified_back(attempt),
        "duration_seconds": seconds(end - since),
        "written_after_seconds": seconds(at - since) if at is not None else 0.0,
    }


def _is_written_back(attempt: Attempt) -> bool:
    """Tell whether a write of the way back was done, or may have been: not all were refused."""
    is_unknown = attempt.awaits(Write) or bool(answers_lost(attempt))
    return has_written_back(attempt) or is_unknown


def _goes_back(attempt: Attempt) -> bool:
    if attempt.ledger.restored:
        return True
    gone = frozenset(attempt.interference.departures)
    failed = frozenset(attempt.result.failures)
    writes = writes_back(attempt.plan, attempt.ledger.written, gone, failed)
    if not writes and _outcomes(attempt) & {Outcome.ROLLBACK_FAILED}:
        return True
    return any(write.verb is Verb.APPLY for write in writes)


def _rollback_reason(attempt: Attempt) -> AnyReason:
    for failure in attempt.result.failures.values():
        return failure.reason
    return (
        attempt.result.why_back.reason
        if attempt.result.why_back is not None
        else Reason.INTERNAL_ERROR
    )


def _verified_back(attempt: Attempt) -> bool:
    """Tell whether all that went back serves again; of configuration alone nothing shows that."""
    own = {ending.outcome for ending in attempt.result.endings.values()}
    unverified = {Outcome.ROLLBACK_FAILED, Outcome.LOST_CONTACT, Outcome.INTERRUPTED}
    return Outcome.ROLLED_BACK in own and not _outcomes(attempt) & unverified


def _outcomes(attempt: Attempt) -> set[Outcome]:
    endings = {ending.outcome for ending in attempt.result.endings.values()}
    return endings | {attempt.outcome}
