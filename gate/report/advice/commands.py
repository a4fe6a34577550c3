"""Steps with a command of the gate: about a workload, what a run left, or the run once more."""

from __future__ import annotations

import shlex

from gate.cluster_name import ClusterName
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.result import ObjectResult, Result, WorkloadResult


def cluster_of(result: Result) -> ClusterName:
    """Return how a command names the run's cluster."""
    return ClusterName(result["context"], result["kubeconfig"])


def place_of(result: Result, workload: WorkloadResult | ObjectResult) -> list[str]:
    """Return the flags that say where a workload is."""
    return cluster_of(result).flags(workload["namespace"])


def step_about(
    result: Result, workload: WorkloadResult | ObjectResult, text: str, verb: str, *more: str
) -> Step:
    """Return a step with a command of the gate about one workload."""
    name, place = registry.argument_of(workload), place_of(result, workload)
    return Step(text, shlex.join(["rollout-gate", verb, name, *place, *more]))


def recovery_step(result: Result, text: str) -> Step:
    """Return the step that finishes what a run left.

    The record is in the first lock of the run, and what runs once has none.
    """
    locked = [one for one in result["workloads"] if not registry.of_entry(one).runs_once]
    if not locked:
        namespace = min((one["namespace"] for one in result["workloads"]), default="")
        return Step(
            text, cluster_of(result).command("rollout-gate", "recover", namespace=namespace)
        )
    first = min(locked, key=lambda one: (one["namespace"], one["kind"].lower(), one["name"]))
    return step_about(result, first, text, "recover")
