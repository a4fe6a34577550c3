"""Steps with a command of the gate: about a workload, what a run left, or the run once more."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Final

from gate.cluster_name import ClusterName
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.attempt_advice import Step, managers_in, take_over_flags

_STDIN: Final = "<stdin>"


def cluster_of(result: Result) -> ClusterName:
    """Return how a command names the run's cluster."""
    return ClusterName(result["context"], result["kubeconfig"])


def place_of(result: Result, workload: WorkloadResult) -> list[str]:
    """Return the flags that say where a workload is."""
    return cluster_of(result).flags(workload["namespace"])


def step_about(result: Result, workload: WorkloadResult, text: str, verb: str, *more: str) -> Step:
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


def claims_of(result: Result, message: str) -> Iterator[Step]:
    """Say how a run takes the fields of the managers in a message; nothing if it names none.

    Only commands that have these flags meet such a conflict.
    """
    managers = managers_in(message)
    if not managers:
        return
    yield taking_step(result, "to take their fields over for good", managers)
    text = "to overwrite their values this once"
    yield _step_again(result, text, "--force-conflicts")


def taking_step(result: Result, text: str, managers: Iterable[str]) -> Step:
    """Return the step that runs a command again so that it takes over what others own."""
    return _step_again(result, text, *take_over_flags(managers))


def _step_again(result: Result, text: str, *more: str) -> Step:
    """Return the step with a run's command and more flags; of its own ones only the place is known.

    After a command that writes no manifest it is an `apply`; PATH stands for several files.
    """
    namespaces = {one["namespace"] for one in result["workloads"]}
    place = cluster_of(result).flags(namespaces.pop() if len(namespaces) == 1 else "")
    if result["command"] == "undo" and result["workloads"]:
        words = ["undo", registry.argument_of(result["workloads"][0])]
        text = f"{text}, undo again, with this run's other flags added:"
    else:
        files = {one["file"] for one in result["objects"]} - {""}
        words = ["apply", "-f", *(files if len(files) == 1 and _STDIN not in files else ["PATH"])]
        text = f"{text}, apply again, with this run's other flags added:"
    return Step(text, shlex.join(["rollout-gate", *words, *place, *more]))
