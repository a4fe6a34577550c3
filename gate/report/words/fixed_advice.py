"""The advice that depends on nothing in the result but its reason.

A command may name the Deployment, its place (namespace and cluster) or the cluster alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Reason
from gate.report.kinds import registry

RESUME: Final = "ask whoever paused it, then resume it:"
_STATUS: Final = "rollout-gate status {name} {place}"
FIXED_STEPS: Final[Mapping[str, tuple[str, str]]] = {
    Reason.OUT_OF_MEMORY: ("raise that container's memory limit, or find what made it grow", ""),
    Reason.CONTAINER_CONFIG: (
        "create the ConfigMap, Secret or key that the message names:",
        "kubectl get configmaps,secrets {place}",
    ),
    Reason.AVAILABILITY_LOST: (
        "its pods were ready and are not any more: see which, and whether what they need is there:",
        _STATUS,
    ),
    Reason.READINESS_LOST: (
        "readiness comes and goes: check the probe's time limits and the load",
        "",
    ),
    Reason.NOT_READY: (
        "the containers run and their readiness probe does not pass: check both",
        "",
    ),
    Reason.UNSCHEDULABLE: (
        "no node accepts the pods: compare their requests, selectors and tolerations with:",
        "kubectl describe nodes {cluster}",
    ),
    **registry.STEPS,
    Reason.CONTROLLER_NOT_OBSERVING: (
        "kube-controller-manager does not act on Deployments: ask who runs the cluster",
        "",
    ),
    Reason.SET_INCOMPLETE: (
        "restore by hand what could not be returned; it is named among the causes",
        "",
    ),
    Reason.SIBLING_FAILED: (
        "nothing is wrong with it: fix the Deployment that failed, then apply again",
        "",
    ),
    Reason.OBJECT_NOT_READY: (
        "look at the conditions of that object, and at its controller, then apply again",
        "",
    ),
    Reason.PROGRESS_DEADLINE_EXCEEDED: ("see what it waits for:", _STATUS),
    Reason.TIMEOUT: (
        "if it is merely slow, raise --timeout; see what it waits for:",
        _STATUS,
    ),
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
    Reason.LOCKED: ("wait until the other attempt ends, then apply again", ""),
    Reason.SIBLING_LOCKED: ("wait until the other attempt ends, then apply again", ""),
    Reason.NOT_RESTORED: (
        "find out which webhook changes it:",
        "kubectl get mutatingwebhookconfigurations {cluster}",
    ),
}
