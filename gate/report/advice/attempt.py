"""What to do next if the reason of a run says it, and no workload says more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.advice.commands import cluster_of
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.result import Result
from gate.report.words.half_applied import is_in_doubt
from gate.report.words.object_names import is_gone_at_end, workload_name
from gate.report.words.unfinished import is_undone_by_recovery

CHANGED_MEANWHILE: Final = (
    "somebody else changed it meanwhile: look at what they did, then run the same command again"
)
WITHOUT_A_WORKLOAD: Final[Mapping[str, tuple[Step, ...]]] = {
    Reason.INTERNAL_ERROR: (Step("this is a bug in rollout-gate: report it, with this run's log"),),
    Reason.USAGE: (Step("correct the command, the configuration or the manifest"),),
    Reason.LOCKED: (
        Step("once `rollout-gate locks` shows that the other attempt has ended, apply again"),
    ),
    Reason.FORBIDDEN: (
        Step(
            "ask for the missing rights; this prints the Role that a manifest needs:",
            "rollout-gate preflight --rbac -f PATH",
        ),
    ),
    Reason.UNAUTHORIZED: (Step("get fresh credentials: the API server does not take these"),),
    Reason.UNREACHABLE: (Step("check the server's address, the network and the kubeconfig"),),
    Reason.GITOPS_MANAGED: (
        Step("judge what the other tool rolls out instead:", "rollout-gate verify NAME"),
        Step("or apply all the same with --allow-managed"),
    ),
    Reason.PROTECTED: (Step("this target is protected on purpose: check context and namespace"),),
    Reason.NOT_FOUND: (Step("check name, namespace and context"),),
    Reason.PAUSED: (Step("when whoever paused it agrees, an apply with --resume resumes it"),),
    Reason.OBJECT_NOT_READY: (
        Step(
            "see what its conditions and its controller say; an apply with --wait-for workloads"
            " does not wait for it"
        ),
    ),
    Reason.APPLY_REJECTED: (Step("correct what the server names, then apply again"),),
    Reason.REJECTED: (Step("correct what the server names, then apply again"),),
    Reason.CONFLICT: (Step(CHANGED_MEANWHILE),),
}
"""Advice by a run's reason, for runs that followed no workload or in which only it counts."""


def after_interruption(result: Result) -> Iterator[Step]:
    """Say whether to begin again what broke off, by whether anything was found against it.

    Which command that was, an apply, an `undo` or a `restart`, the report does not know.
    """
    has_ended = result["outcome"] in (Outcome.ROLLED_BACK, Outcome.FAILED)
    broke_off = has_ended and result["reason"] == Reason.INTERRUPTED
    if not broke_off or result["takes_back"] or is_undone_by_recovery(result):
        return
    parts = (
        ("causes", any(one["causes"] for one in result["workloads"])),
        (
            "evidence",
            any(one["evidence"] for one in result["workloads"]),
        ),
    )
    if found := [f"the {part}" for part, is_there in parts if is_there]:
        yield Step(
            f"the attempt was cut off before a verdict: check {' and '.join(found)} in this report"
            " before you repeat the command that began it"
        )
    else:
        yield Step(
            "the attempt was cut off before a verdict, and nothing was found against it: repeat"
            " the command that began it if you still want it"
        )


def advise_on_perhaps_gone(result: Result) -> Iterator[Step]:
    """Say what becomes of what a dead gate ran, or may have, and what is not there."""
    for one in result["workloads"]:
        name = workload_name(result, one)
        is_gone = registry.of_entry(one).runs_once and is_gone_at_end(result, one)
        is_doubted = one["reason"] == Reason.INTERRUPTED and is_in_doubt(result, one)
        if one["outcome"] != Outcome.INCONCLUSIVE or not (is_gone or is_doubted):
            continue
        what = f"how {name} ended" if is_gone else f"whether {name} ran"
        selector = ("get", "pods", "-l", f"job-name={one['name']}")
        yield Step(
            f"{what}, its pods may say, if any are left, or the log of the run that was killed;"
            f" the next apply runs {name} unless it is there:",
            cluster_of(result).command("kubectl", *selector, namespace=one["namespace"]),
        )
