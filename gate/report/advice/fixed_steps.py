"""The advice that depends on nothing in the result but its reason.

A command may name the workload, its place (namespace and cluster) or the cluster alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from gate.cluster_name import ClusterName
from gate.core.model.outcome import Reason
from gate.report.advice.options import has_option
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.half_applied import is_innocent

RESUME: Final = "ask whoever paused it, then resume it:"
RESUME_AT_LAST: Final = "to resume it, once nothing speaks against its version any more:"
_ONCE_UNLOCKED: Final = "once this shows that the other attempt has ended, apply again:"
_MAY_BE_SLOW: Final = (Reason.TIMEOUT, Reason.NOT_READY)
_STATUS: Final = "rollout-gate status {name} {place}"
FIXED_STEPS: Final[Mapping[str, tuple[str, str]]] = {
    Reason.OUT_OF_MEMORY: ("raise that container's memory limit, or find what made it grow", ""),
    Reason.CONTAINER_CONFIG: (
        "create the ConfigMap, Secret or key that the message names:",
        "kubectl get configmaps,secrets {place}",
    ),
    Reason.AVAILABILITY_LOST: (
        "its pods were ready and no longer are: see which, and check what they depend on:",
        _STATUS,
    ),
    Reason.READINESS_LOST: (
        "readiness comes and goes: check the probe's timeout and the load",
        "",
    ),
    Reason.NOT_READY: (
        (
            "the containers run, but their readiness probe does not pass: check the probe, and"
            " what it asks"
        ),
        "",
    ),
    Reason.BLOCKED_BY_FINALIZER: (
        "a pod that has finalizers left is not gone, and is waited for: see whose they are:",
        (
            "kubectl get pods {place}"
            " -o custom-columns=NAME:.metadata.name,FINALIZERS:.metadata.finalizers"
        ),
    ),
    Reason.BLOCKED_BY_TERMINATION: (
        "no other pod takes its place until it has ended: wait for that, or see if its node is up:",
        "kubectl get pods {place} -o wide",
    ),
    Reason.NOT_STARTED: (
        "no container of these pods has started: see what they wait for (a volume, their node):",
        "kubectl events {place} --types=Warning",
    ),
    Reason.UNSCHEDULABLE: (
        "no node accepts the pods: compare their requests, selectors and tolerations with:",
        "kubectl describe nodes {cluster}",
    ),
    Reason.CONTROLLER_NOT_OBSERVING: (
        "kube-controller-manager does not act on {kinds}: tell whoever runs the cluster",
        "",
    ),
    Reason.SET_INCOMPLETE: (
        "restore by hand what could not be returned; the causes name it",
        "",
    ),
    Reason.SIBLING_FAILED: (
        "nothing is wrong with it: fix the {culprit} that failed, then apply again",
        "",
    ),
    Reason.OBJECT_NOT_READY: (
        (
            "look at the conditions and the controller of that object; an apply with --wait-for"
            " workloads does not wait for it"
        ),
        "",
    ),
    Reason.PROGRESS_DEADLINE_EXCEEDED: ("see what it waits for:", _STATUS),
    Reason.TIMEOUT: ("see what it waits for:", _STATUS),
    Reason.PAUSED: (
        RESUME,
        "rollout-gate resume {name} {place}",
    ),
    Reason.REJECTED: ("correct what the server names, then apply again", ""),
    Reason.IRREVERSIBLE: (
        "give the object a new name in the manifest, so that the old one stays to return to",
        "",
    ),
    Reason.APPLY_REJECTED: ("correct what the server names, then apply again", ""),
    Reason.GITOPS_REVERTED: (
        "another tool applies the failed version: revert it in that tool's source",
        "",
    ),
    Reason.LOCKED: (_ONCE_UNLOCKED, "rollout-gate locks {place}"),
    Reason.SIBLING_LOCKED: (_ONCE_UNLOCKED, "rollout-gate locks {place}"),
    Reason.NOT_RESTORED: (
        "find out which webhook changes it:",
        "kubectl get mutatingwebhookconfigurations {cluster}",
    ),
}


def fixed_steps(reason: str, result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Yield the advice of `FIXED_STEPS` for a reason, about the workload that decided."""
    if reason not in FIXED_STEPS:
        return
    text, command = FIXED_STEPS[reason]
    is_out_of_time = Reason.TIMEOUT in (reason, worst["reason"]) and reason in _MAY_BE_SLOW
    if is_out_of_time and has_option(result, "--timeout"):
        text = f"if it is merely slow, raise --timeout; {text}"
    cluster = ClusterName(result["context"], result["kubeconfig"])
    words = command.format(
        name=shlex.quote(registry.argument_of(worst)),
        place=shlex.join(cluster.flags(worst["namespace"])),
        cluster=shlex.join(cluster.flags()),
    )
    kinds, culprit = registry.of_entry(worst).plural, _kind_of_failure(result)
    yield Step(text.format(kinds=kinds, culprit=culprit), words.rstrip())


def _kind_of_failure(result: Result) -> str:
    """Return the kind of what failed by itself, `workload` if several kinds did."""
    failed = [one for one in result["workloads"] if not is_innocent(one)] or result["workloads"]
    kinds = {registry.of_entry(one).name for one in failed}
    return kinds.pop() if len(kinds) == 1 else "workload"
