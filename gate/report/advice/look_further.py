"""The commands that show more of the workload that decided, ready to be copied."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.core.model.outcome import Outcome
from gate.report.advice.commands import cluster_of
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.worst import worst_workload


def look_further(result: Result) -> list[Step]:
    """Return the commands that show more of the workload that decided, ready to be copied."""
    worst = worst_workload(result)
    if worst is None or result["outcome"] == Outcome.USAGE:
        return []
    return [*_commands(result, worst)]


def _commands(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    place = cluster_of(result).flags(worst["namespace"])
    name = registry.argument_of(worst)
    yield _step("the tree, and why each pod is as it is:", "rollout-gate status", name, *place)
    kind = registry.of_entry(worst)
    if not kind.runs_once:
        yield _step("the revisions:", "rollout-gate history", name, *place)
    if worst["new"]["name"]:
        version = kind.call_version(worst["new"]["name"])
        yield _step(f"the new {kind.version}:", "kubectl describe", version, *place)
    events = "--for", kind.call(worst["name"])
    yield _step("what the cluster said of it:", "kubectl events", *events, *place)
    if worst["running"] in ("new", "mixed"):
        pods = [piece["pod"] for piece in worst["evidence"] if piece["pod"]]
        for pod in list(dict.fromkeys(pods))[:1]:
            yield _step("the pod:", "kubectl describe", f"pod/{pod}", *place)


def _step(text: str, command: str, *words: str) -> Step:
    return Step(text, f"{command} {shlex.join(words)}")
