"""What a check has found of a version that an attempt applies again without asking that check."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, PlannedObject
from gate.core.plan.rollback_plan import content
from gate.core.versions.candidates import Candidates
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.obstacles import left_unverified

_OF_CHECKS: Final = (Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR)


def find_doubts(candidates: Candidates, plan: Plan) -> FrozenMap[Ref, CleanText]:
    """Return the workloads whose version stays as a check left it, each with what the check said.

    A check that this attempt asks as well decides anew.
    """
    if not all(_is_kept(plan, one) for one in plan.objects):
        return FrozenMap()
    asked = {check.name for check in plan.policy.checks if check.decides}
    digests, doubts = candidates.live_digests(), {}
    for target in candidates.targets:
        left = left_unverified(target, candidates.history(target.ref), digests)
        found = _describe(left, asked) if left is not None else None
        if found is not None:
            doubts[target.ref] = found
    return FrozenMap(doubts)


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
    if why is None or why.reason not in _OF_CHECKS or why.message.partition(": ")[0] in asked:
        return None
    did = "failed a check" if left.failed else "was left undecided by a check"
    return CleanText(f"this version {did} at {left.judged_at} ({why.message})")
