"""An age limit for what a failure returns to: it should not force a very old version on anybody."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime

from gate.app.runtime.console import Warn
from gate.core.model.fact import Known
from gate.core.plan.plan import Plan, Target
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.policy import OnFailure, OnInterrupt

_DAY_SECONDS = 86_400


def within_age(plan: Plan, days: int | None, now: datetime, warn: Warn) -> Plan:
    """Return a plan that returns to nothing older than `days`; None allows any age.

    A version is as old as its revision (`metadata.creationTimestamp`); one of unknown age is too
    old. If one of several workloads could not return, none does, since they were applied
    together; a partly done apply is not taken back either. Checks still compare with these
    versions.
    """
    if days is None:
        return plan
    too_old = [why for target in plan.targets if (why := _too_old(plan, target, days, now))]
    for why in too_old:
        warn(f"{why}: a failure does not return to it")
    if not too_old:
        return plan
    response = replace(plan.policy.response, takes_back_parts=False)
    if response.on_failure is OnFailure.ROLLBACK:
        keep, on_signal = OnFailure.KEEP, OnInterrupt.KEEP
        response = replace(response, on_failure=keep, on_interrupt=on_signal)
    return replace(plan, policy=replace(plan.policy, response=response))


def _too_old(plan: Plan, target: Target, days: int, now: datetime) -> str:
    if not isinstance(target.baseline, Known):
        return ""
    age = _age_days(target, target.baseline.value, now)
    what = f"{plan.name_of(target.ref)}: what a failure would return to is"
    if age is None:
        return f"{what} of an age that nobody knows, and the limit is {days} days"
    if age <= days:
        return ""
    whole = math.ceil(age) - 1
    counted = "1 day" if whole == 1 else f"{whole} days"
    return f"{what} more than {counted} old, and the limit is {days}"


def _age_days(target: Target, baseline: Baseline, now: datetime) -> float | None:
    made = (
        rs.created_at for rs in target.snapshot.list_owned() if rs.name == baseline.revision_name
    )
    try:
        return (now - datetime.fromisoformat(next(made, ""))).total_seconds() / _DAY_SECONDS
    except (ValueError, TypeError):
        return None
