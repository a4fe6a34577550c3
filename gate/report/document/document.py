"""Makes the result document of an attempt, or of a run that ended without one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from gate.core.attempt.ending import Ending
from gate.core.attempt.left_open import is_left_open
from gate.core.attempt.state import Attempt
from gate.core.endings.differences import differences
from gate.core.endings.unwritten import has_gone, may_run_on
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import WELL, AnyReason, Outcome, Reason
from gate.core.model.remedy import Remedy
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce
from gate.core.rollout.causes import Crash
from gate.core.ssa.applied_fields import applied_body
from gate.core.ssa.template_owners import fields_that_stay
from gate.core.versions.undo_conflicts import find_held_beside_template, taken_by_undo
from gate.report.check_report.rows import check_rows
from gate.report.document.actions import objects, rollback
from gate.report.document.deletion import deletion
from gate.report.document.evidence import evidence
from gate.report.document.late_configuration import has_replaced_pods
from gate.report.document.remarks import find_scaled, remarks
from gate.report.document.run import Run
from gate.report.document.running_pods import (
    is_complete_after_signal,
    is_held_after_signal,
    is_left_paused,
    running,
)
from gate.report.document.samples import history
from gate.report.document.trees import pod_shares, trees
from gate.report.document.versions import (
    baseline_version,
    is_drawn_in,
    new_version,
    undone_version,
)
from gate.report.document.without_observe import because, would_have
from gate.report.document.workload_remarks import lasting_effect, lost_data, workload_remarks
from gate.report.schema.course import TimelineEntry
from gate.report.schema.result import CauseResult, CrashResult, Phase, Result, WorkloadResult
from gate.wire.untrusted import clean_line

MOST_TIMELINE_LINES = 500
_FIRST_TIMELINE_LINES = 100
_WENT_BACK = (Outcome.ROLLED_BACK, Outcome.ROLLBACK_FAILED)
"""Outcomes with which the document says what in fact could not go back."""


def document(attempt: Attempt, run: Run) -> Result:
    """Return the result document of an attempt that has ended.

    An attempt that has not ended is reported as an internal error.
    """
    ending = attempt.result.ending
    if ending is None:
        message = f"the attempt ended in state {attempt.course.state} without a verdict"
        return minimal(Outcome.INTERNAL_ERROR, 1, Reason.INTERNAL_ERROR, message, run)
    result = minimal(ending.outcome, attempt.exit_code, ending.reason, _message(attempt), run)
    result["recoverable"] = run.record.is_open or (run.record.is_locked and is_left_open(attempt))
    result["takes_back"] = _takes_back(attempt)
    result["unready_need"] = _find_unready_need(ending)
    result["undecided_check"] = ending.check if ending.reason is Reason.INTERRUPTED else ""
    if attempt.plan.command != "verify":
        result["on_failure"] = _answer_to_failure(attempt.plan)
    if ending.outcome is Outcome.OBSERVED:
        result["would_have"] = would_have(attempt, _decided_by(attempt, ending))
    result["workloads"] = [_workload(attempt, target.ref) for target in attempt.plan.targets]
    scaled = find_scaled(attempt)
    for target, workload in zip(attempt.plan.targets, result["workloads"], strict=True):
        workload["scaled_meanwhile"] = target.ref in scaled
    result["objects"] = objects(attempt, run)
    result["checks"] = check_rows(attempt)
    result["rollback"] = rollback(attempt, run)
    result["history"] = history(attempt.plan.policy.checks, result["checks"], run)
    found = (*lost_data(attempt), *map(clean_line, differences(attempt)))
    void = {one for one, ref in run.lines.of_pods.items() if has_replaced_pods(attempt, ref)}
    void |= run.lines.cautions if _is_past(result) else frozenset()
    said = [warning for warning in run.lines.warnings if warning not in void]
    result["warnings"] = list(
        dict.fromkeys(
            [*found, *remarks(attempt, is_locked=run.record.is_locked), *said, *run.lines.advice]
        )
    )
    return result


def minimal(
    outcome: Outcome,
    exit_code: int | None,
    reason: AnyReason,
    message: str,
    run: Run,
    *,
    hint: str = "",
) -> Result:
    """Return the document of a run that ended without an attempt: usage, refused, a bug."""
    return {
        "schema": "rollout-gate/result/v1",
        "version": run.identity.version,
        "command": run.identity.command,
        "attempt": run.identity.attempt_id,
        "run_url": run.identity.run_url,
        "traceparent": run.identity.traceparent,
        "server": run.cluster.server,
        "context": run.cluster.context,
        "kubeconfig": run.cluster.kubeconfig,
        "check_flags": None if run.check_call.flags is None else list(run.check_call.flags),
        "check_variables": list(run.check_call.variables),
        "cluster_uid": run.cluster.uid,
        "outcome": outcome,
        "exit_code": exit_code,
        "reason": reason.value,
        "message": message,
        "hint": hint,
        "recoverable": False,
        "has_recovered": run.record.has_recovered,
        "takes_back": False,
        "would_have": "",
        "unready_need": "",
        "undecided_check": "",
        "on_failure": "",
        "started_at": run.times.started_at,
        "duration_seconds": run.times.seconds_at(run.times.clock_end),
        "workloads": [],
        "objects": [],
        "checks": [],
        "rollback": None,
        "timeline": _timeline(run),
        "history": {"pods": [], "checks": []},
        "warnings": list(dict.fromkeys([*run.lines.warnings, *run.lines.advice])),
    }


def _answer_to_failure(plan: Plan) -> Literal["rollback", "pause", "keep"]:
    """Return what a failure leads to; an attempt that is finished is observed as it began."""
    observes = (plan if plan.resumed is None else plan.resumed.record).policy.observe
    return "keep" if observes else plan.policy.response.on_failure.value


def _message(attempt: Attempt) -> str:
    ending = attempt.result.ending
    if ending is None:
        return ""
    ref, text = _decided_by(attempt, ending), ending.message
    if ending.outcome is Outcome.OBSERVED:
        return f"{would_have(attempt, ref)}{because(attempt, ref)}"
    if ref is None or len(attempt.result.endings) == 1 or is_drawn_in(attempt, ref):
        return text
    return f"{attempt.plan.name_of(ref)}: {text}"


def _decided_by(attempt: Attempt, ending: Ending) -> Ref | None:
    """Return the first workload that ended as the whole attempt did, `--observe` aside."""
    endings = attempt.result.endings.items()
    return next((ref for ref, own in endings if _is_part(own, ending)), None)


def _is_part(own: Ending, whole: Ending) -> bool:
    """Tell whether the attempt ended as this workload did, `--observe` aside."""
    return (own.reason, own.message, own.causes) == (whole.reason, whole.message, whole.causes)


def _is_past(result: Result) -> bool:
    """Tell whether warnings of what a failure, or the gate's end, could not return are moot now."""
    if result["outcome"] in WELL:
        return True
    return result["outcome"] in _WENT_BACK and not result["recoverable"]


def _takes_back(attempt: Attempt) -> bool:
    """Tell whether an undo takes back what an earlier attempt left although nothing had failed."""
    resumed = attempt.plan.resumed
    return resumed is not None and resumed.led_back.by_undo and not resumed.record.why


def _find_unready_need(ending: Ending) -> str:
    """Return the object at which an attempt ended that the next write needed; "" for none."""
    if ending.reason not in (Reason.APPLY_REJECTED, Reason.OBJECT_NOT_READY):
        return ""
    needs = (one.subject for one in ending.causes if one.reason is Reason.OBJECT_NOT_READY)
    return next(needs, "")


def _workload(attempt: Attempt, ref: Ref) -> WorkloadResult:
    ending = attempt.result.endings[ref]
    written = attempt.ledger.written.get(ref)
    live = attempt.plan.target(ref).snapshot.live
    gone = deletion(attempt, ref)
    is_unsure = gone is not None and gone["done"] and gone["pods"] != 0
    is_unsure = is_unsure or may_run_on(attempt, ref)
    found = written.after.uid if written is not None else live.uid if live is not None else ""
    return {
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "uid": found,
        "outcome": ending.outcome,
        "reason": ending.reason.value,
        "message": ending.message,
        "causes": _causes(ending),
        "baseline": baseline_version(attempt, ref),
        "new": new_version(attempt, ref),
        "undone": undone_version(attempt, ref),
        "phase": _phase(attempt, ref),
        "changed": _is_changed(attempt, ref),
        "running": "unknown" if is_unsure else running(attempt, ref),
        "scaled_from": _count_scaled(attempt, ref, ending),
        "scaled_meanwhile": False,
        "paused": is_left_paused(attempt, ref) or is_held_after_signal(attempt, ref),
        "complete_after_signal": is_complete_after_signal(attempt, ref),
        "deletion": gone,
        "undo_lacks": list(map(str, attempt.plan.target_set.undo.lacks.get(ref, ()))),
        "undo_conflicts": _list_undo_conflicts(attempt, ref),
        "evidence": evidence(attempt, ref),
        "trees": trees(attempt, ref),
        "pod_shares": pod_shares(attempt, ref),
        "remarks": workload_remarks(attempt, ref),
        "lasting_effect": lasting_effect(attempt, ref),
        "remedy": _remedy(attempt, ref, ending),
    }


def _list_undo_conflicts(attempt: Attempt, ref: Ref) -> list[str]:
    """Name the managers for whose fields an undo is refused, as what is live now shows.

    Where the way back was written, that is not known any better than before the attempt.
    """
    live, baseline = attempt.ledger.live.get(ref), attempt.plan.target(ref).baseline
    is_refused = ref in attempt.writes.refusals
    if not is_refused or live is None or not isinstance(baseline, Known):
        return list(attempt.plan.target_set.undo.conflicts.get(ref, ()))
    stay = fields_that_stay(live, baseline.value.template, taken_by_undo(live))
    before, body = attempt.plan.before(ref), attempt.plan.target_set.members.get(ref)
    if body is None and before is not None:
        body = applied_body(before)
    beside = find_held_beside_template(live, body) if body is not None else set()
    return sorted({*stay, *beside})


def _count_scaled(attempt: Attempt, ref: Ref, ending: Ending) -> int:
    """Return how many replicas were wanted of what somebody scaled to 0, 0 of anything else."""
    known = attempt.workloads
    rollout = known.rollouts.get(ref) or known.followed_before.get(ref)
    is_scaled = ending.reason is Reason.SCALED_TO_ZERO
    return rollout.applied.replicas if is_scaled and rollout is not None else 0


def _remedy(attempt: Attempt, ref: Ref, ending: Ending) -> Remedy:
    """Return what brings pods to the live template where nothing rolls, or a version to serve."""
    is_stuck = ending.outcome is Outcome.ROLLBACK_FAILED and not attempt.writes.refusals
    if is_stuck and ref in attempt.plan.target_set.undo.beyond:
        return Remedy.UNDO
    if ending.reason is Reason.PAUSED and ref in attempt.plan.target_set.applied.doubts:
        return Remedy.UNDO
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    if live is None or ending.reason is not Reason.NO_ROLLOUT:
        return Remedy.NONE
    return live.remedy


def _phase(attempt: Attempt, ref: Ref) -> Phase | None:
    """Return when the run writes a workload, None if it does not, as `verify` and a replay."""
    plan = attempt.plan
    if plan.resumed is None and all(write.ref != ref for write in plan.writes):
        return None
    return plan.target(ref).phase.value


def _is_changed(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the apply changed a workload, even if that went back, or is gone since."""
    written, resumed = attempt.ledger.written.get(ref), attempt.plan.resumed
    if written is not None or resumed is None:
        return written is not None and written.changed
    return any(one.ref == ref and one.changes for one in resumed.record.objects) and (
        ref in resumed.restored or has_gone(attempt, ref)
    )


def _causes(ending: Ending) -> list[CauseResult]:
    """Return what was wrong with this workload; for one drawn in, whose failure it was."""
    return [
        {
            "reason": one.reason.value,
            "message": one.message,
            "pods": one.pods,
            "subject": one.subject,
            "remedy": one.remedy,
            "crash": _crash(one.crash) if one.crash is not None else None,
        }
        for one in ending.causes
    ]


def _crash(one: Crash) -> CrashResult:
    return {
        "container": one.container,
        "init": one.is_init,
        "has_last_words": one.has_last_words,
    }


def _timeline(run: Run) -> list[TimelineEntry]:
    """Return the timeline; if it is long, its first and last lines, and how many are left out."""
    lines = run.lines.timeline
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
            "at_seconds": run.times.seconds_at(line.at),
            "event": line.event,
            "message": line.message,
        }
        for line in lines
    ]
