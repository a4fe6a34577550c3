"""Earlier findings about an applied or kept version that the attempt does not check again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.objects import CleanText, Ref, Template, Workload
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.rollback_plan import content
from gate.core.plan.target_set import AppliedVersion
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.open_findings import list_findings
from gate.core.versions.return_doubts import left_unverified


def with_doubts(candidates: Candidates, plan: Plan, applied: AppliedVersion) -> AppliedVersion:
    """Return it with the workloads that get, or keep, a version about which something is open.

    A check that this attempt asks as well decides again.
    """
    asked = {check.name for check in plan.policy.checks if check.decides}
    digests = candidates.live_digests()
    found = {
        one.ref: _find_kept(one, candidates.history(one.ref), digests, plan)
        for one in candidates.targets
    }
    unasked = {ref: [one for one in left if one.check not in asked] for ref, left in found.items()}
    return replace(
        applied,
        doubts=FrozenMap((ref, _describe(left)) for ref, left in unasked.items() if left),
        left_by_check=tuple(
            ref for ref, left in found.items() if any(one.is_left_by_check for one in left)
        ),
    )


def _find_kept(
    target: Target, history: History, digests: Mapping[Ref, str], plan: Plan
) -> tuple[JudgedVersion, ...]:
    """Return what stays open about what the attempt keeps of a workload, newest first.

    Of a version that is its pod template, whatever else changes, and also where it was taken back
    since; of what was applied beside a template that was verified, or beside another one, all of
    its objects.
    """
    wanted = _find_wanted(target, plan)
    of_template = list_findings(history, wanted) if wanted is not None else ()
    judges = wanted is None or _judges_pods(target, wanted, plan)
    if found := tuple(one for one in of_template if one.is_left_by_check or not judges):
        return found
    left = left_unverified(target, history, digests)
    if left is None or not left.is_left_by_check:
        return ()
    subject = {target.ref, *left.members}
    is_kept = all(_is_kept(plan, one) for one in plan.objects if one.ref in subject)
    return (left,) if is_kept else ()


def _judges_pods(target: Target, wanted: Template, plan: Plan) -> bool:
    """Tell whether an attempt sees more of the pods than that they are ready when it begins.

    It makes new ones, waits for them, or watches them through a bake window. With OnDelete a
    template that was applied makes none.
    """
    live, snapshot, trial = target.snapshot.live, target.snapshot, plan.trial(target.ref)
    bakes = plan.policy.budgets.longest_bake_seconds > 0
    if live is None or bakes or _restarts(plan):
        return True
    after = (trial.workload if trial is not None else None) or live
    if live.template.body != wanted.body:
        return not after.leaves_old_pods
    return not snapshot.kind.is_rolled_out(snapshot, live) or _wants_more_pods(live, after)


def _wants_more_pods(live: Workload, after: Workload) -> bool:
    """Tell whether more pods are to take the template: of more replicas, or a lower partition."""
    return after.replicas - after.old_pods_kept > live.replicas - live.old_pods_kept


def _restarts(plan: Plan) -> bool:
    """Tell whether an attempt restarts its workload: no other write has a manager of its own."""
    return any(one.field_manager != FIELD_MANAGER for one in plan.writes)


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


def _describe(left: Sequence[JudgedVersion]) -> CleanText:
    """Say what was found of a version, and when, that is not found out again."""
    by_checks = [one for one in left if one.is_left_by_check]
    of_checks = ", and ".join(
        f"{'failed a check' if one.failed else 'was left undecided by a check'} in an attempt that"
        f" ended at {one.judged_at}"
        f" ({one.why.message if one.why is not None else one.check})"
        for one in by_checks
    )
    of_pods = (
        f"failed in an attempt that ended at {one.judged_at} ({one.why.reason}), its pods were"
        " ready before this run, and no bake window watches them"
        for one in left
        if one.why is not None and not one.is_left_by_check
    )
    which = "a check of that name has" if len(by_checks) == 1 else "checks of those names have"
    answer = f"{which} to pass before it is verified"
    unasked = (f"{of_checks}, which this run does not ask: {answer}",) if by_checks else ()
    return CleanText(f"what this run judges {'; it '.join((*unasked, *of_pods))}")
