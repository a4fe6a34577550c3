"""Begins to follow a workload: from the answer to our apply, or as it was found."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import kind_of
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Workload
from gate.core.plan.leg import Leg, leg_timeout
from gate.core.plan.rollback_plan import spec_changed
from gate.core.rollout.applied import Applied
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import Policy
from gate.core.rollout.snapshot import Snapshot
from gate.core.ssa import field_set, managed_fields


class UnexpectedAnswer(Exception):
    """An answer to an effect that is not outstanding; the attempt is unchanged."""


def applied_of(
    at: float, before: LiveObject | None, live: LiveObject, field_manager: str
) -> Applied:
    """Return what our apply set, with the template fields that make the version.

    What had run to its end before, as a Job, is not run again, whatever of its spec changes.

    Raise UnexpectedAnswer if `live` is no workload.
    """
    workload = live.workload
    if workload is None:
        raise UnexpectedAnswer(f"{live.ref} is no workload")
    was = before.workload if before is not None else None
    was_over = was is not None and was.uid == live.uid and kind_of(live.ref).has_ended(was)
    return Applied(
        uid=live.uid,
        generation=workload.generation,
        template=workload.template,
        owned=find_template_fields(live, field_manager),
        at=at,
        new_template=was is None or was.template.body != workload.template.body,
        spec_changed=spec_changed(before, live) and not was_over,
        replicas=count_wanted(workload),
    )


def find_template_fields(live: LiveObject, field_manager: str = FIELD_MANAGER) -> Body | None:
    """Return the fields of a pod template that make the version which a manager rolls out.

    Those that our manager owns are the version that it applied. Of a write that applies none, as of
    `restart`, and of what others applied, all that anybody owns count. None if nobody owns any.
    """
    entries = live.thaw_managed_fields()
    owned = managed_fields.owned_fields(entries) if field_manager == FIELD_MANAGER else None
    below = field_set.descend(owned, "spec", "template")
    if not below:
        for entry in entries:
            theirs = field_set.descend(entry.get("fieldsV1"), "spec", "template")
            below = field_set.union(below, theirs or None)
    return Body.of(below) if below else None


def applied_found(
    at: float, live: Workload, *, changed: bool = True, owned: Body | None = None
) -> Applied:
    """Return what is followed without a write, as by `verify`: its whole template is "ours".

    `changed` is false if it is known to be as it was before. With `owned`, fields of its
    template, only those are.
    """
    return Applied(
        live.uid,
        live.generation,
        live.template,
        owned=owned,
        at=at,
        new_template=changed,
        spec_changed=changed,
        replicas=kind_of(live.ref).count_kept(live, live),
        found=True,
    )


def count_wanted(live: Workload) -> int:
    """Return the number of replicas, 0 of a kind that has no such number of its own."""
    return 0 if kind_of(live.ref).default_replicas is None else live.replicas


def policy_of_the_way_back(policy: Policy) -> Policy:
    """Return the limits of a rollback: all old pods, no bake window, patience with what passes.

    How many pods are enough (`--require`) is said of the version that is rolled out. The old one
    would have so many at once, while a pod of the failed version keeps the others from going back.
    A quota that new pods filled has room again once they are gone, but by then the ReplicaSet's
    own retries are minutes apart (client-go rate limiter, up to 1,000 s). Failing fast would only
    turn it into a failed rollback.
    """
    fail_fast = replace(
        policy.fail_fast, denied_by_quota_seconds=None, denied_by_webhook_seconds=None
    )
    budgets = replace(policy.budgets, bake_seconds=0.0, evidence_seconds=0.0)
    requirement = replace(policy.requirement, require=None, require_min_available=False)
    return replace(policy, budgets=budgets, requirement=requirement, fail_fast=fail_fast)


def start_following(attempt: Attempt, applied: Applied, snapshot: Snapshot) -> Attempt:
    """Replace the snapshot of a workload by a new rollout, with the budget of the leg."""
    policy = attempt.plan.policy
    forward = attempt.course.leg is Leg.FORWARD
    rollout = Rollout.start(
        applied,
        snapshot,
        policy if forward else policy_of_the_way_back(policy),
        total_seconds=leg_timeout(policy, attempt.course.leg),
        budget_from=attempt.followed_from,
        deadline_decides=forward,
    )
    return replace(
        attempt,
        workloads=replace(
            attempt.workloads,
            rollouts=attempt.workloads.rollouts.put(snapshot.ref, rollout),
            snapshots=attempt.workloads.snapshots.drop(snapshot.ref),
        ),
    )
