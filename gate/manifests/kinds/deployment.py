"""apps/v1 Deployment in a manifest: its row, and what the lint looks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.duration import format_seconds
from gate.manifests.body import value_at
from gate.manifests.kinds.kind import POD_TEMPLATE, Rank, UpdateLimits, Workload, usual
from gate.manifests.kinds.rules import (
    MIN_READY_SECONDS,
    MUTABLE_TAGS,
    READINESS_PROBES,
    SEVERAL_REPLICAS,
    LintCode,
    Rule,
    Subject,
)

DEFAULT_DEADLINE_SECONDS: Final = 600
"""The default of `progressDeadlineSeconds` in apps/v1."""

NO_DEADLINE_SECONDS: Final = 2147483647
MARGIN_SECONDS: Final = 5
"""How long after the deadline the controller may write the condition, with some to spare."""


def _find_impatience(subject: Subject) -> str:
    timeout_seconds = subject.timeout_seconds
    deadline = value_at(subject.body, "spec", "progressDeadlineSeconds")
    if not isinstance(deadline, int):
        deadline = DEFAULT_DEADLINE_SECONDS
    if timeout_seconds is None or deadline == NO_DEADLINE_SECONDS:
        return ""
    if timeout_seconds > deadline + MARGIN_SECONDS:
        return ""
    return (
        f"--timeout ({format_seconds(timeout_seconds)}) may end a stuck rollout as Timeout before"
        f" progressDeadlineSeconds ({format_seconds(deadline)}) finds it stuck"
        " (ProgressDeadlineExceeded): give --timeout more than"
        f" {format_seconds(deadline + MARGIN_SECONDS)}"
    )


DEPLOYMENT: Final = replace(
    usual("apps/v1", "Deployment", "deployments", Rank.WORKLOADS, *POD_TEMPLATE),
    update_limits=UpdateLimits(
        instead="or apply it under another name, and delete this one once that serves"
    ),
    workload=Workload(
        rules=(
            MUTABLE_TAGS,
            READINESS_PROBES,
            MIN_READY_SECONDS,
            SEVERAL_REPLICAS,
            Rule(LintCode.TIMEOUT_BEFORE_DEADLINE, _find_impatience),
        )
    ),
)
