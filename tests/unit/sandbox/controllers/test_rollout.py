"""Rollouts as a watch of the Deployment sees them, step by step as real ones were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.json import JSON
from tests.unit.sandbox.controllers.bed import (
    NAMESPACE,
    TEAM,
    Bed,
    condition,
    conditions,
    generations,
    revision_of,
    web,
)

TRACES = Path(__file__).parents[3] / "traces"
ONE_BY_ONE = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
RECREATE = {"type": "Recreate"}

Steps = list[tuple[object, ...]]


def recorded(scenario: str) -> Steps:
    """Return each step of generations and conditions of a recording, once."""
    lines = (TRACES / f"{scenario}.jsonl").read_text().splitlines()[1:]
    bodies = (json.loads(line)["object"] for line in lines)
    steps: Steps = []
    for body in bodies:
        step = (generations(body), conditions(body)) if body["kind"] == "Deployment" else None
        if step and (not steps or steps[-1] != step):
            steps.append(step)
    return steps


def as_recorded(**spec: Any) -> JSON:
    """Return the Deployment of the recordings."""
    return web(minReadySeconds=1, progressDeadlineSeconds=8, **spec)


@pytest.mark.parametrize(
    ("scenario", "strategy", "ready"),
    [
        ("good-rolling", None, None),
        ("good-recreate", RECREATE, None),
        ("good-slow-steps", ONE_BY_ONE, "3"),
        ("never-ready", None, "never"),
    ],
)
def test_a_new_version_takes_the_recorded_steps(
    bed: Bed, scenario: str, strategy: JSON | None, ready: str | None
) -> None:
    """Generations, conditions and their order change as on a real control plane."""
    bed.deploy(as_recorded(**({"strategy": strategy} if strategy else {})))
    bed.seen.clear()
    bed.set_image("shop/web:2", ready)
    bed.run(30)
    assert bed.progress() == recorded(scenario)


def test_a_first_deployment_takes_the_recorded_steps(bed: Bed) -> None:
    """From nothing observed to NewReplicaSetAvailable."""
    bed.deploy(as_recorded())
    assert bed.progress() == recorded("first-good")


def test_a_scaling_takes_the_recorded_steps(bed: Bed) -> None:
    """Availability is lost and won; Progressing stays as the last rollout left it."""
    bed.deploy(as_recorded())
    bed.seen.clear()
    bed.patch({"spec": {"replicas": 6}})
    bed.run(10)
    assert bed.progress() == recorded("scale-only")


def test_a_full_quota_takes_the_recorded_steps(bed: Bed) -> None:
    """ReplicaFailure shows after the generation was observed, the deadline after all."""
    bed.deploy(as_recorded(strategy=ONE_BY_ONE))
    bed.limit(pods="4")
    bed.seen.clear()
    bed.set_image("shop/web:2")
    bed.run(15)
    assert bed.progress() == recorded("quota")


def test_a_new_version_after_a_deadline_takes_the_recorded_steps(bed: Bed) -> None:
    """The old template's deadline stands in snapshots of the new generation."""
    bed.deploy(as_recorded())
    bed.set_image("shop/web:2", "never")
    bed.run(15)
    bed.seen.clear()
    bed.set_image("shop/web:3")
    bed.run(5)
    assert bed.progress() == recorded("stale-deadline")


def test_a_superseded_rollout_takes_the_recorded_steps(bed: Bed) -> None:
    """A third template in the midst of the second."""
    bed.deploy(as_recorded())
    bed.seen.clear()
    bed.set_image("shop/web:2", "4")
    bed.run(1)
    bed.set_image("shop/web:3")
    bed.run(10)
    assert bed.progress() == recorded("superseded")


def test_counters_stay_within_surge_and_unavailability(bed: Bed) -> None:
    """Of 10 with 3 more and 2 less, 8 to 13 are there whenever a status is written."""
    bed.deploy(web(10))
    bed.seen.clear()
    bed.set_image("shop/web:2", "0.5")
    bed.run(20)
    available = [body["status"].get("availableReplicas", 0) for body in bed.seen]
    assert min(available) >= 8
    assert max(body["status"]["replicas"] for body in bed.seen) <= 13
    assert bed.deployment["status"]["updatedReplicas"] == 10


def test_an_undo_after_the_deadline_shows_it_in_the_new_generation_no_more(bed: Bed) -> None:
    """The old ReplicaSet is taken again with a new revision, and what it was is its history."""
    bed.deploy(web(progressDeadlineSeconds=8))
    bed.set_image("shop/web:2", "never")
    bed.run(15)
    assert condition(bed.deployment, "Progressing")["reason"] == "ProgressDeadlineExceeded"
    bed.set_image("shop/web:1")
    bed.run(5)
    assert condition(bed.deployment, "Progressing")["reason"] == "NewReplicaSetAvailable"
    assert revision_of(bed.deployment) == "3"
    undone = bed.replica_sets[-1]["metadata"]["annotations"]
    assert undone["deployment.kubernetes.io/revision-history"] == "1"
    assert len(bed.replica_sets) == 2


def test_an_undo_shows_the_stale_deadline_with_the_new_generation(bed: Bed) -> None:
    """Between the write and its observation the watch sees the new generation and the old words."""
    bed.deploy(web(progressDeadlineSeconds=8))
    bed.set_image("shop/web:2", "never")
    bed.run(15)
    bed.seen.clear()
    bed.set_image("shop/web:1")
    bed.run(5)
    stale = [
        body
        for body in bed.seen
        if condition(body, "Progressing")["reason"] == "ProgressDeadlineExceeded"
    ]
    assert {generations(body) for body in stale} == {(3, 2)}
    assert {revision_of(body) for body in stale} == {"2", "3"}


def test_the_deadline_is_found_without_any_change(bed: Bed) -> None:
    """Nothing happens to a stuck rollout; it times out within 2 s after its deadline."""
    bed.deploy(web(progressDeadlineSeconds=60))
    bed.set_image("shop/web:2", "never")
    bed.run(1)
    since = bed.timers.now()

    def timed_out() -> bool:
        return bool(condition(bed.deployment, "Progressing")["status"] == "False")

    late = bed.run_until(timed_out, seconds=70)
    assert 58 <= late - since <= 62


def test_a_deadline_clears_when_pods_become_ready(bed: Bed) -> None:
    """PDE is not terminal."""
    bed.deploy(web(progressDeadlineSeconds=5))
    bed.seen.clear()
    bed.set_image("shop/web:2", "10")
    bed.run(60)
    reasons = [condition(body, "Progressing")["reason"] for body in bed.seen]
    assert "ProgressDeadlineExceeded" in reasons
    assert reasons[-1] == "NewReplicaSetAvailable"


def test_no_deadline_has_no_progressing_condition(bed: Bed) -> None:
    """The largest number means none."""
    bed.deploy(web(progressDeadlineSeconds=2147483647))
    bed.set_image("shop/web:2")
    bed.run(5)
    assert {kind for body in bed.seen for kind, _, _ in conditions(body)} == {"Available"}


def test_a_minimum_of_ready_seconds_alone_makes_no_rollout(bed: Bed) -> None:
    """The ReplicaSet takes it over, availability waits for it, and the revision stays."""
    bed.deploy(web())
    bed.run(5)
    bed.patch({"spec": {"minReadySeconds": 30}})
    bed.run(1)
    assert bed.deployment["status"].get("availableReplicas", 0) == 0
    assert [rs["spec"]["minReadySeconds"] for rs in bed.replica_sets] == [30]
    bed.run(30)
    assert bed.deployment["status"]["availableReplicas"] == 4
    assert revision_of(bed.deployment) == "1"


def test_a_restart_is_a_new_version(bed: Bed) -> None:
    """`kubectl rollout restart` writes an annotation into the template."""
    bed.deploy(web())
    stamp = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    bed.patch({"spec": {"template": {"metadata": {"annotations": stamp}}}})
    bed.run(5)
    assert [rs["spec"]["replicas"] for rs in bed.replica_sets] == [0, 4]


def test_an_annotation_bumps_the_generation_and_is_copied(bed: Bed) -> None:
    """Kubectl's last-applied configuration is not."""
    bed.deploy(web())
    last_applied = "kubectl.kubernetes.io/last-applied-configuration"
    bed.patch({"metadata": {"annotations": {"team": "shop", last_applied: "{}"}}})
    bed.run(1)
    assert generations(bed.deployment) == (2, 2)
    copied = bed.replica_sets[0]["metadata"]["annotations"]
    assert copied["team"] == "shop"
    assert last_applied not in copied


def test_unhealthy_old_pods_go_first(bed: Bed) -> None:
    """A second attempt after a bad one takes the pods of the bad one, not of the good one."""
    bed.deploy(web())
    bed.set_image("shop/web:2", "never")
    bed.run(2)
    bed.seen.clear()
    bed.set_image("shop/web:3", "never")
    bed.run(2)
    good, bad, newest = (rs["spec"]["replicas"] for rs in bed.replica_sets)
    assert (good, bad, newest) == (3, 0, 2)


def test_recreate_waits_for_pods_that_are_ending(bed: Bed) -> None:
    """Old and new pods are never there together."""
    bed.kubelet.end_seconds = 20.0
    bed.deploy(web(strategy=RECREATE))
    bed.set_image("shop/web:2")
    bed.run(15)
    assert len(bed.replica_sets) == 1
    assert bed.deployment["status"].get("replicas", 0) == 0
    bed.run(15)
    assert [rs["spec"]["replicas"] for rs in bed.replica_sets] == [0, 4]
    assert {pod["spec"]["containers"][0]["image"] for pod in bed.pods} == {"shop/web:2"}


def test_events_say_what_was_scaled(bed: Bed) -> None:
    """As `kubectl describe deployment` shows it."""
    bed.deploy(web(2, strategy=ONE_BY_ONE))
    bed.set_image("shop/web:2")
    bed.run(5)
    old, new = (rs["metadata"]["name"] for rs in bed.replica_sets)
    told = [message for reason, message in bed.events if reason == "ScalingReplicaSet"]
    assert told == [
        f"Scaled up replica set {old} from 0 to 2",
        f"Scaled up replica set {new} from 0 to 1",
        f"Scaled down replica set {old} from 2 to 1",
        f"Scaled up replica set {new} from 1 to 2",
        f"Scaled down replica set {old} from 1 to 0",
    ]


def test_a_replica_set_is_made_as_the_real_controller_makes_it(bed: Bed) -> None:
    """Name, labels, selector, owner and annotations."""
    created = bed.deploy(web(minReadySeconds=1))
    body = bed.replica_sets[0]
    suffix = body["metadata"]["labels"]["pod-template-hash"]
    labels = {"app": "web", "pod-template-hash": suffix}
    assert body["metadata"]["name"] == f"web-{suffix}"
    assert body["metadata"]["labels"] == labels
    assert body["spec"]["selector"] == {"matchLabels": labels}
    assert body["spec"]["template"]["metadata"]["labels"] == labels
    assert body["spec"]["minReadySeconds"] == 1
    assert body["metadata"]["annotations"] == {
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
        "deployment.kubernetes.io/revision": "1",
    }
    assert body["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "web",
            "uid": created["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_the_same_hash_of_another_template_is_a_collision(bed: Bed) -> None:
    """It is counted in the status, and the count gives the next name."""
    bed.controllers.deployments.new.hashed = lambda _, count: (
        "same" if count is None else f"x{count}"
    )
    bed.deploy(web())
    bed.set_image("shop/web:2")
    bed.run(5)
    assert bed.deployment["status"]["collisionCount"] == 1
    assert [rs["metadata"]["name"] for rs in bed.replica_sets] == ["web-same", "web-x1"]
    assert bed.deployment["status"]["updatedReplicas"] == 4


def test_a_replica_set_that_cannot_be_created_is_a_condition(bed: Bed) -> None:
    """ReplicaSetCreateError, never observed, until the reason is gone."""
    bed.deploy(web())
    bed.limit(**{"count_replicasets.apps": "1"})
    bed.set_image("shop/web:2")
    bed.run(1)
    failed = condition(bed.deployment, "Progressing")
    assert (failed["status"], failed["reason"]) == ("False", "ReplicaSetCreateError")
    assert (
        "is forbidden: exceeded quota: full, requested: count/replicasets.apps=1"
        in failed["message"]
    )
    assert generations(bed.deployment) == (2, 1)
    assert "ReplicaSetCreateError" in [reason for reason, _ in bed.events]
    bed.api.delete(bed.key("resourcequotas", "full"), TEAM)
    bed.run(30)
    assert condition(bed.deployment, "Progressing")["reason"] == "NewReplicaSetAvailable"


@pytest.mark.parametrize(
    ("limit", "kept"), [(0, ["4"]), (1, ["3", "4"]), (None, ["1", "2", "3", "4"])]
)
def test_old_replica_sets_beyond_the_limit_are_deleted(
    bed: Bed, limit: int | None, kept: list[str]
) -> None:
    """The lowest revisions go, once the rollout is complete."""
    spec: JSON = {} if limit is None else {"revisionHistoryLimit": limit}
    bed.deploy(web(2, **spec))
    for version in (2, 3, 4):
        bed.set_image(f"shop/web:{version}")
        bed.run(5)
    assert [revision_of(rs) for rs in bed.replica_sets] == kept


def test_terminating_pods_are_counted(bed: Bed) -> None:
    """`terminatingReplicas` of ReplicaSet and Deployment, in no other counter."""
    bed.kubelet.end_seconds = 20.0
    bed.deploy(web())
    bed.patch({"spec": {"replicas": 1}})
    bed.run(1)
    status = bed.deployment["status"]
    assert (status["replicas"], status["terminatingReplicas"]) == (1, 3)
    bed.run(25)
    assert bed.deployment["status"]["terminatingReplicas"] == 0


def test_many_deployments_stand_side_by_side(bed: Bed) -> None:
    """Each owns what its selector names, and all become available."""
    for number in range(40):
        body = web(2)
        body["metadata"]["name"] = f"web-{number}"
        body["spec"]["selector"]["matchLabels"] = {"app": f"web-{number}"}
        body["spec"]["template"]["metadata"]["labels"] = {"app": f"web-{number}"}
        bed.api.create("deployments.apps", NAMESPACE, body, TEAM)
    bed.run(30)
    found = bed.api.store.items("deployments.apps", NAMESPACE)
    assert [body["status"]["availableReplicas"] for body in found] == [2] * 40
    assert len(bed.pods) == 80
