"""Makes the result document of an attempt, or of a run that ended without one."""

from __future__ import annotations

from collections.abc import Iterable

from gate.core.attempt.history_entries import is_left_open
from gate.core.attempt.state import Attempt, Ending
from gate.core.endings.differences import differences
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.protocol.effects import Announce
from gate.core.rollout.policy import OnFailure
from gate.report.check_report.rows import check_rows
from gate.report.document.actions import objects, rollback
from gate.report.document.deletion import deletion
from gate.report.document.evidence import evidence
from gate.report.document.remarks import remarks
from gate.report.document.replica_sets import trees
from gate.report.document.run import Run, seconds
from gate.report.document.samples import history
from gate.report.document.versions import baseline_version, is_drawn_in, new_version, running
from gate.report.schema.result import CauseResult, DeploymentResult, Result, TimelineEntry
from gate.wire.untrusted import clean_line

MOST_TIMELINE_LINES = 500
_FIRST_TIMELINE_LINES = 100
_WELL = (Outcome.VERIFIED, Outcome.APPLIED)
"""Where nothing has to go back any more."""


def document(attempt: Attempt, run: Run) -> Result:
    """Return the result document of an attempt that has ended.

    One that has not is an internal error, and is reported as such.
    """
    ending = attempt.result.ending
    if ending is None:
        message = f"the attempt ended in state {attempt.course.state} without a verdict"
        return minimal(Outcome.INTERNAL_ERROR, 1, Reason.INTERNAL_ERROR, message, run)
    result = minimal(ending.outcome, attempt.exit_code, ending.reason, _message(attempt), run)
    result["recoverable"] = run.has_open_record or (run.is_locked and is_left_open(attempt))
    result["deployments"] = [
        _deployment(attempt, target.ref, run) for target in attempt.plan.targets
    ]
    result["objects"] = objects(attempt, run)
    result["checks"] = check_rows(attempt)
    result["rollback"] = rollback(attempt, run)
    result["history"] = history(attempt.plan.policy.checks, run)
    found = map(clean_line, differences(attempt))
    void = run.cautions if ending.outcome in _WELL else frozenset()
    said = [warning for warning in run.warnings if warning not in void]
    result["warnings"] = list(
        dict.fromkeys([*found, *said, *remarks(attempt, is_locked=run.is_locked)])
    )
    return result


def minimal(
    outcome: Outcome,
    exit_code: int | None,
    reason: Reason,
    message: str,
    run: Run,
    *,
    hint: str = "",
) -> Result:
    """Return the document of a run that ended without an attempt: usage, refused, a bug."""
    return {
        "schema": "rollout-gate/result/v1",
        "version": run.version,
        "command": run.command,
        "attempt": run.attempt_id,
        "run_url": run.run_url,
        "traceparent": run.traceparent,
        "server": run.server,
        "context": run.context,
        "kubeconfig": run.kubeconfig,
        "check_flags": None if run.check_flags is None else list(run.check_flags),
        "cluster_uid": run.cluster_uid,
        "outcome": outcome,
        "exit_code": exit_code,
        "reason": reason.value,
        "message": message,
        "hint": hint,
        "recoverable": False,
        "started_at": run.started_at,
        "duration_seconds": seconds(run.clock_end - run.clock_start),
        "deployments": [],
        "objects": [],
        "checks": [],
        "rollback": None,
        "timeline": _timeline(run),
        "history": {"pods": [], "checks": []},
        "warnings": list(dict.fromkeys(run.warnings)),
    }


def _message(attempt: Attempt) -> str:
    ending = attempt.result.ending
    if ending is None:
        return ""
    ref = next((ref for ref, own in attempt.result.endings.items() if _is_part(own, ending)), None)
    text: str = ending.message
    if ending.outcome is Outcome.OBSERVED:
        return _would_have(attempt, ref, ending)
    if ref is None or len(attempt.result.endings) == 1 or is_drawn_in(attempt, ref):
        return text
    return f"{attempt.plan.name_of(ref)}: {text}"


def _is_part(own: Ending, whole: Ending) -> bool:
    """Tell whether the attempt ended as this Deployment did, `--observe` aside."""
    return (own.reason, own.message, own.causes) == (whole.reason, whole.message, whole.causes)


def _would_have(attempt: Attempt, ref: Ref | None, ending: Ending) -> str:
    """Say what `--observe` kept the gate from doing."""
    outcome = attempt.result.endings[ref].outcome if ref is not None else Outcome.VERIFIED
    because = f"because {ending.reason}: {ending.message}"
    if ref is None and ending.reason not in (Reason.COMPLETE, Reason.NO_CHANGE):
        return f"would have failed {because}"
    if ref is None:
        return f"would have been applied: {ending.reason}: {ending.message}"
    if outcome is Outcome.VERIFIED:
        return f"would have been verified: {ending.reason}: {ending.message}"
    if outcome is not Outcome.FAILED:
        return f"would have ended as {outcome} {because}"
    policy, baseline = attempt.plan.policy, attempt.plan.target(ref).baseline
    name = attempt.plan.name_of(ref)
    if policy.on_failure is not OnFailure.ROLLBACK:
        return f"would have failed ({name}, --on-failure {policy.on_failure}) {because}"
    if not isinstance(baseline, Known):
        return f"would have failed ({name}, nothing served before) {because}"
    return f"would have rolled back {name} to revision {baseline.value.revision} {because}"


def _deployment(attempt: Attempt, ref: Ref, run: Run) -> DeploymentResult:
    ending = attempt.result.endings[ref]
    written = attempt.ledger.written.get(ref)
    live = attempt.plan.target(ref).snapshot.live
    gone = deletion(attempt, ref, run)
    is_unsure = gone is not None and gone["done"] and gone["pods"] != 0
    found = written.after.uid if written is not None else live.uid if live is not None else ""
    return {
        "namespace": ref.namespace,
        "name": ref.name,
        "uid": found,
        "outcome": ending.outcome,
        "reason": ending.reason.value,
        "causes": _causes(ending),
        "baseline": baseline_version(attempt, ref),
        "new": new_version(attempt, ref),
        "changed": written is not None and written.changed,
        "running": "unknown" if is_unsure else running(attempt, ref),
        "deletion": gone,
        "undo_lacks": list(map(str, attempt.plan.target_set.undo_lacks.get(ref, ()))),
        "evidence": evidence(attempt, ref),
        "trees": trees(attempt, ref),
    }


def _causes(ending: Ending) -> list[CauseResult]:
    """Return what was wrong with this Deployment; of one drawn in, whose failure it was."""
    causes = ending.causes
    return [{"reason": c.reason.value, "message": c.message, "pods": c.pods} for c in causes]


def _timeline(run: Run) -> list[TimelineEntry]:
    """Return the timeline; of a long one its first and last lines, and how many are left out."""
    lines = run.timeline
    if len(lines) <= MOST_TIMELINE_LINES:
        return _entries(run, lines)
    rest = MOST_TIMELINE_LINES - _FIRST_TIMELINE_LINES - 1
    first, last = lines[:_FIRST_TIMELINE_LINES], lines[-rest:]
    count = len(lines) - len(first) - len(last)
    cut = Announce(last[0].at, "cut", f"{count} lines are left out here")
    return _entries(run, (*first, cut, *last))


def _entries(run: Run, lines: Iterable[Announce]) -> list[TimelineEntry]:
    return [
        {
            "at_seconds": seconds(line.at - run.clock_start),
            "event": line.event,
            "message": line.message,
        }
        for line in lines
    ]
