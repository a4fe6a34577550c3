"""What a check has found of a version that an attempt keeps without asking that check."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.rollback_plan import content
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.obstacles import left_unverified


def find_doubts(candidates: Candidates, plan: Plan) -> FrozenMap[Ref, CleanText]:
    """Return the workloads whose version stays as a check left it, each with what the check said.

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

    Of a version that is its pod template, whatever else changes; of what was applied beside a
    template that was verified, or beside another one, all of its objects.
    """
    live = target.snapshot.live
    of_template = history.left_by_check(live.template) if live is not None else None
    left = of_template or left_unverified(target, history, digests)
    if left is None or not left.is_left_by_check:
        return None
    subject = {target.ref} if of_template is not None else {target.ref, *left.members}
    is_kept = all(_is_kept(plan, one) for one in plan.objects if one.ref in subject)
    return left if is_kept else None


def _is_kept(plan: Plan, planned: PlannedObject) -> bool:
    """Tell whether an object stays as it is, but for a restart, a pause, or its replicas."""
    before, trial = planned.before, planned.trial
    if not isinstance(before, Known):
        return False
    if trial is None:
        writes = (write for write in plan.writes if write.ref == planned.ref)
        return all(one.verb is Verb.MERGE or one.field_manager != FIELD_MANAGER for one in writes)
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
