"""The sandbox plays StatefulSets, DaemonSets and Jobs as a real control plane did."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile

import pytest

from sandbox.face import (
    JSON,
    Change,
    Cluster,
    ClusterOptions,
    Key,
    Pace,
    Patch,
    PatchType,
    Timers,
    Writer,
    behaviour,
    dig,
)
from tests.conformance.workloads import REAL, Story
from tests.long import longer

MICROSECONDS = (0, 350_000, 700_000)
SAMPLE = 350_000
SETTLING_SECONDS = 8.0
LONGER_SECONDS = 2.0
"""How much longer a story is played: what counts whole seconds may take one more."""
TEAM = Writer("team", "kubectl")
RESOURCES = {
    "StatefulSet": "statefulsets.apps",
    "DaemonSet": "daemonsets.apps",
    "Job": "jobs.batch",
}
WATCHED = (*RESOURCES.values(), "pods", "controllerrevisions.apps", "events")
ASKED = {
    "crash=0.3": "crash=0.3",
    "never": "never-ready",
    "ready=1": "ready=1",
    "ready=2": "ready=2",
    "on=df-1;crash=0.3": "crash=0.3;node=df-1",
    "exit=3": "ready-then-crash=0.3;code=3",
    "exit=0,after=1": "complete=1",
}
"""What the annotation `rig` of the recorded pods asks for."""

RECORDED = json.loads(REAL.read_text(encoding="utf-8"))


class Rig:
    """Lets pods do what the recorded ones did."""

    outranks_annotations = False

    def clauses(self, pod: JSON) -> Sequence[behaviour.Clause]:
        """Return what the annotation asks for."""
        asked = dig(pod, "metadata", "annotations", "rig")
        return behaviour.parse(ASKED[asked]) if asked else ()

    def log(self, _image: str) -> str:
        """Return nothing."""
        return ""


def played(recorded: JSON, microsecond: int) -> JSON:
    """Return the story of a recording's rollout in a sandbox."""
    timers = Timers(datetime(2026, 1, 1, 12, 0, 0, microsecond, UTC))
    nodes = tuple(recorded["nodes"]) or ("rig-0",)
    cluster = Cluster(timers, options=ClusterOptions(pace=Pace.SHORT, nodes=nodes, source=Rig()))
    applied = recorded["applied"]
    selector = dig(applied, "spec", "template", "spec", "nodeSelector") or {}
    for name in nodes:
        patch = Patch(PatchType.MERGE, {"metadata": {"labels": selector}})
        cluster.api.patch(Key("nodes", "", name), patch, TEAM)
    namespace = {"metadata": {"name": applied["metadata"]["namespace"]}}
    cluster.api.create("namespaces", "", namespace, TEAM)
    for body in ([applied] if recorded["is_second"] else []) + recorded["before"]:
        _apply(cluster, body)
        timers.run_due(timers.now() + SETTLING_SECONDS)
    story = _follow(cluster)
    started = timers.now()
    for name, at in recorded["joined"].items():
        timers.call_later(at, partial(_join, cluster, name, selector))
    _apply(cluster, applied)
    timers.run_due(started + recorded["seconds"] + LONGER_SECONDS)
    return story.as_json()


def _join(cluster: Cluster, name: str, labels: JSON) -> None:
    asked = {"sandbox.rollout-gate.dev/node": "ready"}
    body = {"metadata": {"name": name, "labels": labels, "annotations": asked}}
    cluster.api.create("nodes", "", body, TEAM)


def _apply(cluster: Cluster, body: JSON) -> None:
    metadata = body["metadata"]
    key = Key(RESOURCES[body["kind"]], metadata["namespace"], metadata["name"])
    cluster.api.patch(key, Patch(PatchType.APPLY, body, force=True), TEAM)


def _follow(cluster: Cluster) -> Story:
    """Return a story that goes on with the cluster."""
    story, store = Story(), cluster.api.store
    story.know([body for resource in WATCHED for body in store.items(resource)])

    def hear(change: Change) -> None:
        story.see(change.type.name, change.after or change.before or {})

    for resource in WATCHED:
        store.listen(resource, hear)
    return story


def _until_restart(pods: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return what pods did before a container began again: when it does is the kubelet's matter."""
    return {name: [*takewhile(lambda one: "x1" not in one, each)] for name, each in pods.items()}


def _lacks_a_pod(status: JSON) -> bool:
    """Say whether a DaemonSet is just replacing a pod: the real one does not always tell."""
    wanted = status.get("desiredNumberScheduled", 0)
    return bool(status.get("currentNumberScheduled") == wanted - 1)


def _skipped(real: Sequence[JSON], played: Sequence[JSON]) -> Iterator[JSON]:
    """Yield what was played between the states of the real story; fail where one is missing."""
    left = iter(played)
    for wanted in real:
        for found in left:
            if found == wanted:
                break
            yield found
        else:
            pytest.fail(f"the sandbox never shows {wanted}")
    yield from left


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize(
    "microsecond", [moment if moment == SAMPLE else longer(moment) for moment in MICROSECONDS]
)
@pytest.mark.contract("B304")
def test_the_sandbox_plays_workloads_as_the_real_cluster_did(name: str, microsecond: int) -> None:
    """The same pods go through the same states in the same order, and so does the status."""
    real = RECORDED[name]["story"]
    found = played(RECORDED[name], microsecond)
    assert found["moves"] == real["moves"]
    assert _until_restart(found["pods"]) == _until_restart(real["pods"])
    assert found["events"] == real["events"]
    skipped = _skipped(real["statuses"], found["statuses"])
    assert [each for each in skipped if not _lacks_a_pod(each)] == []
