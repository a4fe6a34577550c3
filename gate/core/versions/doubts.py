"""What a check has found of a version that an attempt applies or keeps without asking it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.objects import CleanText, Ref, Template
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.rollback_plan import content
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.obstacles import left_unverified


def find_doubts(candidates: Candidates, plan: Plan) -> FrozenMap[Ref, CleanText]:
    """Return the workloads that get, or keep, a version as a check left it, with what that said.

    A check that this attempt asks as well decides anew.
    """
    asked = {check.name for check in plan.policy.checks if check.decides}
    digests, doubts = candidates.live_digests(), {}
    for target in candidates.targets:
        left = _find_kept(target, candidates.history(target.ref), digests, plan)
        found = _describe(left, asked) if left is not None else None
        if found is not None:
            doubts[target.ref] = found
    return FrozenMap(doubts)


def _find_kept(
    target: Target, history: History, digests: Mapping[Ref, str], plan: Plan
) -> JudgedVersion | None:
    """Return what a check left of a workload and the attempt keeps, None for nothing.

    Of a version that is its pod template, whatever else changes, and also where it was taken back
    since; of what was applied beside a template that was verified, or beside another one, all of
    its objects.
    """
    wanted = _find_wanted(target, plan)
    of_template = history.left_by_check(wanted) if wanted is not None else None
    if of_template is not None:
        return of_template
    left = left_unverified(target, history, digests)
    if left is None or not left.is_left_by_check:
        return None
    subject = {target.ref, *left.members}
    is_kept = all(_is_kept(plan, one) for one in plan.objects if one.ref in subject)
    return left if is_kept else None


def _find_wanted(target: Target, plan: Plan) -> Template | None:
    """Return the pod template with which a workload is to be verified, None if nobody knows it."""
    trial = plan.trial(target.ref)
    if trial is None and _is_applied(plan, target.ref):
        return None
    live = trial.workload if trial is not None else target.snapshot.live
    return live.template if live is not None else None


def _is_applied(plan: Plan, ref: Ref) -> bool:
    writes = (one for one in plan.writes if one.ref == ref)
    return any(one.verb is not Verb.MERGE and one.field_manager == FIELD_MANAGER for one in writes)


def _is_kept(plan: Plan, planned: PlannedObject) -> bool:
    """Tell whether an object stays as it is, but for a restart, a pause, or its replicas."""
    before, trial = planned.before, planned.trial
    if not isinstance(before, Known):
        return False
    if trial is None:
        return not _is_applied(plan, planned.ref)
    if trial.workload is None or before.value.workload is None:
        return content(before.value.body) == content(trial.body)
    was, after = before.value.workload.template, trial.workload.template
    return template_digest(was) == template_digest(after)


def _describe(left: JudgedVersion, asked: Collection[str]) -> CleanText | None:
    """Say when which check left a version unverified, None if none did, or if it is asked again.

    The message of the verdict begins with the name of the check.
    """
    why = left.why
    if why is None or why.message.partition(": ")[0] in asked:
        return None
    did = "failed a check" if left.failed else "was left undecided by a check"
    return CleanText(f"this version {did} at {left.judged_at} ({why.message})")
