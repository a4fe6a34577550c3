"""Ways back after which no controller replaces the pods: the gate evicts those that it brought."""

from __future__ import annotations

import itertools

import pytest

from tests.bed.expectations import assert_rolled_back, changes
from tests.bed.nodes import Nodes
from tests.bed.pods import behave, image_of
from tests.bed.scene import OURS, Scene, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set
from tests.scenarios.killing import die_at, recover
from tests.scenarios.pod_replacement import (
    ON_DELETE,
    ROLLING,
    WRITTEN,
    db,
    evictions,
    images_of,
    waits,
)

STRATEGIES = [
    pytest.param(ON_DELETE, ROLLING, id="OnDelete"),
    pytest.param({"partition": 3}, {"partition": 0}, id="partition"),
]
MIXED = ["shop/db:1", "shop/db:2", "shop/db:2"]
SHORT = ("--rollback-timeout", "40s")
SOON = (*SHORT, "--progress-deadline", "20s")


def agent(nodes: Nodes, version: int, spec: JSON, **over: object) -> JSON:
    """Return a DaemonSet `agent` on the nodes of a test."""
    given: JSON = {"image": f"shop/agent:{version}", "pool": nodes.pool, **spec, **over}
    return daemon_set(**given)


def strategy(scene: Scene, resource: str, name: str) -> JSON:
    """Return the update strategy that a workload has."""
    found: JSON = scene.objects.get(resource, name)["spec"]["updateStrategy"]
    return found


@pytest.mark.contract("B1090")
@pytest.mark.parametrize(("before", "failed"), STRATEGIES)
def test_a_pod_of_the_failed_version_goes_although_its_controller_leaves_it(
    scene: Scene, audit: Trail, before: JSON, failed: JSON
) -> None:
    """The strategy of before goes back with its template, and the old version serves again."""
    scene.serve(db(1, **before))
    was = strategy(scene, "statefulsets", "db")
    result = scene.apply(db(2, behaviour="crash=0.1", **failed), flags=SHORT)
    assert_rolled_back(result, "CrashLoop")
    assert images_of(scene) == ["shop/db:1"] * 3
    assert strategy(scene, "statefulsets", "db") == was
    assert changes(audit) == [WRITTEN, WRITTEN, "create pods/db-2/eviction"]


@waits
@pytest.mark.contract("B1090")
def test_pods_that_work_go_one_by_one_where_another_workload_failed(
    scene: Scene, audit: Trail
) -> None:
    """Nothing was found against its version, and still all of it is the version before again."""
    scene.serve(db(1, **ON_DELETE), web(1))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=30)
    result = scene.apply(db(2, minReadySeconds=0, **ROLLING), bad)
    assert result.exit_code == 4, str(result)
    assert images_of(scene, "db") == ["shop/db:1"] * 3
    assert evictions(audit) == ["db-2", "db-1", "db-0"]


@pytest.mark.contract("B1090")
def test_a_partition_that_moved_on_is_taken_back_pod_by_pod(scene: Scene) -> None:
    """The same template below a lower partition: what it reached returns to what ran there."""
    scene.serve(db(1))
    scene.apply_as(OURS, db(2, partition=2, minReadySeconds=5))
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
    scene.objects.wait_for(
        "statefulsets", "db", lambda one: one["status"].get("availableReplicas") == 3
    )
    with scene.applying(db(2, partition=0, minReadySeconds=5), flags=SOON) as running:
        scene.objects.wait_for("pods", "db-1", lambda pod: image_of(pod) == "shop/db:2")
        behave(scene, [scene.objects.get("pods", "db-1")], "crash=0.1")
        result = running.wait()
    assert result.exit_code == 4, str(result)
    assert images_of(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]


@pytest.mark.contract("B1090")
def test_a_daemon_set_is_taken_back_node_by_node(scene: Scene, nodes: Nodes) -> None:
    """Its controller replaces none by OnDelete either."""
    nodes.join(3)
    scene.serve(agent(nodes, 1, ON_DELETE))
    result = scene.apply(agent(nodes, 2, ROLLING, behaviour="crash=0.1"), flags=SHORT)
    assert_rolled_back(result, "CrashLoop")
    assert images_of(scene, "agent") == ["shop/agent:1"] * 3
    assert strategy(scene, "daemonsets", "agent")["type"] == "OnDelete"


def raise_partition_behind(scene: Scene, replicas: int = 3) -> None:
    """Bring the two highest pods to version 2, and raise the partition behind one of them."""
    held = replicas - 2
    scene.apply_as(OURS, db(2, partition=held, replicas=replicas))
    for name in (f"db-{held + 1}", f"db-{held}"):
        scene.objects.wait_for("pods", name, lambda pod: image_of(pod) == "shop/db:2")
    scene.objects.wait_for(
        "statefulsets",
        "db",
        lambda one: (
            one["status"].get("availableReplicas") == replicas
            and one["status"].get("updatedReplicas") == 2
        ),
    )
    scene.apply_as(OURS, db(2, partition=held + 1, replicas=replicas))
    scene.objects.wait_for(
        "statefulsets",
        "db",
        lambda one: one["status"].get("observedGeneration") == one["metadata"]["generation"],
    )
    assert images_of(scene)[-3:] == MIXED


@waits
@pytest.mark.contract("B1104", "B1230")
@pytest.mark.parametrize(
    "over",
    [
        pytest.param({}, id="unchanged"),
        pytest.param({"minReadySeconds": 1}, id="same-template"),
        pytest.param({"partition": 1}, id="lowered-to-what-it-was"),
    ],
)
def test_pods_that_the_attempt_did_not_roll_out_stay(
    scene: Scene, audit: Trail, over: JSON
) -> None:
    """Another workload fails: below the partition each pod is as it was."""
    scene.serve(db(1), web(1))
    raise_partition_behind(scene)
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=30)
    result = scene.apply(db(2, **{"partition": 2, **over}), bad)
    assert result.exit_code == 4, str(result)
    assert images_of(scene) == MIXED
    assert evictions(audit) == []


@pytest.mark.contract("B1230")
@pytest.mark.parametrize("dies", [False, True], ids=["", "recovered"])
def test_a_pod_that_ran_the_version_before_stays_below_the_partition(
    scene: Scene, audit: Trail, *, dies: bool
) -> None:
    """The partition was raised by hand: only the pod that the attempt brought there goes."""
    scene.serve(db(1, replicas=4))
    raise_partition_behind(scene, replicas=4)
    bad = db(2, partition=0, replicas=4, minReadySeconds=5)
    with scene.applying(bad, flags=SOON) as running:
        scene.objects.wait_for("pods", "db-1", lambda pod: image_of(pod) == "shop/db:2")
        behave(scene, [scene.objects.get("pods", "db-1")], "crash=0.1")
        if dies:
            running.wait_for_line("restored +statefulset/db")
            running.kill()
        result = scene.gate("recover", "sts/db", "--output", "json") if dies else running.wait()
    assert result.exit_code == 4, str(result)
    assert images_of(scene) == ["shop/db:1", *MIXED]
    assert evictions(audit) == ["db-1"]


@waits
@pytest.mark.contract("B1230")
def test_a_version_that_ran_all_along_is_not_held_against_the_way_back(
    scene: Scene, audit: Trail
) -> None:
    """Version 1 is applied again to pods that a partition held at it, and all is as before."""
    scene.serve(db(1), web(1))
    scene.apply_as(OURS, db(2, partition=2))
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
    scene.objects.wait_for(
        "statefulsets", "db", lambda one: one["status"].get("availableReplicas") == 3
    )
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=30)
    result = scene.apply(db(1, partition=0), bad)
    assert result.exit_code == 4, str(result)
    assert images_of(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]
    assert evictions(audit) == []


@pytest.mark.contract("B1104")
@pytest.mark.sandbox_only("the gate is killed between two of its requests")
def test_recover_leaves_the_pods_of_what_was_not_written_yet(scene: Scene, audit: Trail) -> None:
    """The gate died behind its first write: the StatefulSet is as it was before."""
    scene.serve(settings("v1"), db(1), web(1))
    raise_partition_behind(scene)
    die_at(scene, "applied +configmap/settings", settings("v2"), db(3, partition=2), web(2))
    result = scene.gate("recover", "sts/db", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert images_of(scene) == MIXED
    assert evictions(audit) == []


@waits
@pytest.mark.contract("B1105")
def test_the_next_pod_of_a_daemon_set_waits_until_the_last_is_available(
    scene: Scene, nodes: Nodes, audit: Trail
) -> None:
    """Each one that works goes `minReadySeconds` behind the one before, or later."""
    nodes.join(3)
    scene.serve(agent(nodes, 1, ON_DELETE, minReadySeconds=12), web(1))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=42)
    result = scene.apply(agent(nodes, 2, ROLLING, minReadySeconds=12), bad)
    assert result.exit_code == 4, str(result)
    times = [one.at for one in audit.requests() if one.subresource == "eviction"]
    assert len(times) == 3
    assert images_of(scene, "agent") == ["shop/agent:1"] * 3
    assert all((b - a).total_seconds() >= 12 for a, b in itertools.pairwise(times))


@pytest.mark.contract("B924", "B1091")
@pytest.mark.on_oldest
@pytest.mark.parametrize(("before", "failed"), [pytest.param({}, {}, id="rolling"), *STRATEGIES])
def test_a_gate_that_dies_before_it_replaces_the_pod_is_finished(
    scene: Scene, audit: Trail, before: JSON, failed: JSON
) -> None:
    """The template is the old one already: only the record tells whose pod is to go."""
    scene.serve(db(1, **before))
    die_at(scene, "restored +statefulset/db", db(2, behaviour="crash=0.1", **failed), flags=SHORT)
    assert images_of(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]
    assert_rolled_back(recover(scene, "sts/db"), "CrashLoop")
    assert images_of(scene) == ["shop/db:1"] * 3
    assert changes(audit) == [WRITTEN, WRITTEN, "create pods/db-2/eviction"]
