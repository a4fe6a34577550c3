"""batch/v1 Job and CronJob in a manifest: their rows, and what the lint looks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.manifests.body import value_at
from gate.manifests.kinds.kind import POD_TEMPLATE, Rank, UpdateLimits, Workload, usual
from gate.manifests.kinds.rules import MUTABLE_TAGS, LintCode, Rule, Subject


def _find_impatience(subject: Subject) -> str:
    timeout_seconds = subject.timeout_seconds
    deadline = value_at(subject.body, "spec", "activeDeadlineSeconds")
    if timeout_seconds is None or not isinstance(deadline, int) or timeout_seconds > deadline:
        return ""
    ends = f"a timeout of {timeout_seconds:g} s ends the attempt while the Job may run on"
    return f"{ends}: its activeDeadlineSeconds is {deadline} s"


def _find_lone_name(subject: Subject) -> str:
    """Find a Job whose lock another name would leave out (`gate.core.kinds.registry.locks_of`)."""
    if not subject.is_alone or value_at(subject.body, "metadata", "generateName"):
        return ""
    return (
        "a Job of another name, as of the next version, may run beside it: apply it together with a"
        " workload, whose lock then keeps them apart, or let metadata.generateName name each run"
    )


JOB: Final = replace(
    usual("batch/v1", "Job", "jobs", Rank.JOBS, *POD_TEMPLATE),
    update_limits=UpdateLimits(
        instead="or give each run a Job of its own: metadata.generateName in place of the name, "
        "or a name with the version in it"
    ),
    workload=Workload(
        rules=(
            MUTABLE_TAGS,
            Rule(LintCode.TIMEOUT_BEFORE_DEADLINE, _find_impatience),
            Rule(LintCode.LONE_JOB, _find_lone_name),
        ),
        runs_once=True,
    ),
)

CRON_JOB: Final = replace(
    usual("batch/v1", "CronJob", "cronjobs", Rank.WORKLOADS, "spec", "jobTemplate", *POD_TEMPLATE),
    workload=Workload(rules=(MUTABLE_TAGS,), is_judged=False),
)
"""Nothing rolls when it is applied: its schedule makes the next Job."""
