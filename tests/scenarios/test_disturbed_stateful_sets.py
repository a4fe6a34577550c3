"""StatefulSets that others change, scale or delete while the gate follows them."""

from __future__ import annotations

import re

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_verified,
    changes,
    warned,
)
from tests.bed.pods import image_of
from tests.bed.scene import Scene, settings
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.killing import recover
from tests.scenarios.versions import screen

WRITTEN = "patch statefulsets/db"


def wait_for_new(scene: Scene) -> None:
    """Wait until the first pod of the version 2 is there."""
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")


@pytest.mark.contract("B1267")
def test_a_pod_of_the_failed_version_in_the_way_of_theirs_is_named(scene: Scene) -> None:
    """No pod of theirs exists, and none will before the one that this run made is deleted."""
    scene.serve(stateful_set())
    with scene.applying(stateful_set(image="shop/db:2", behaviour="crash=0.1")) as running:
        running.wait_for_line("restored +statefulset/db")
        scene.apply_as("team", stateful_set(image="shop/db:3"))
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded", running="other")
    text = screen(result)
    [runs] = [line for line in text.splitlines() if line.startswith("  runs ")]
    for pods in ("1 pod runs revision 2, shop/db:2", "2 pods run revision"):
        assert pods in runs, runs
    assert "what somebody else applied" not in text
    assert "delete pod/db-2, with which its log goes (no PodDisruptionBudget prevents that)" in text
    assert "kubectl delete pod/db-2" in text
    assert {image_of(pod) for pod in scene.objects.list_all("pods")} == {"shop/db:1", "shop/db:2"}


@pytest.mark.contract("B922")
def test_a_partition_raised_by_others_is_counted_by_the_pods_that_were_replaced(
    scene: Scene,
) -> None:
    """Two run the new version by then: two stay, although the partition keeps three."""
    scene.serve(stateful_set(replicas=4))
    slow = stateful_set(image="shop/db:2", replicas=4, behaviour="ready=5")
    with scene.applying(slow) as running:
        scene.objects.wait_for(
            "statefulsets", "db", lambda found: found["status"].get("updatedReplicas") == 2
        )
        raised = {"updateStrategy": {"rollingUpdate": {"partition": 3}}}
        scene.objects.patch("statefulsets", "db", {"spec": raised})
        result = running.wait()
    assert_ended(result, 0, "verified", "Partitioned", running="mixed")
    (ended,) = result.document["workloads"]
    assert ended["message"].startswith("2 of 2 new pods available, 2 pods stay at db-")


@pytest.mark.contract("B1500", "B1443", "B1604")
def test_an_undo_that_no_pod_takes_has_left_its_version(scene: Scene) -> None:
    """With OnDelete the pods run on what the undo went back from: no other undo returns to it.

    A failure does, as nothing else is left. However it was rolled out when it was verified first.
    """
    scene.serve(stateful_set())
    assert_verified(scene.apply(stateful_set(image="shop/db:2")))
    on_delete = stateful_set(image="shop/db:2", updateStrategy={"type": "OnDelete"})
    assert_verified(scene.apply(on_delete))
    undone = scene.gate("undo", "sts/db", "--to-revision", "1", "--output", "json")
    assert_ended(undone, 0, "applied", "NoRollout")
    assert {image_of(pod) for pod in scene.objects.list_all("pods")} == {"shop/db:2"}
    marked = r"left by an undo +shop/db:2 +- +serving <- a failure would return here\n"
    assert re.search(marked, scene.gate("history", "sts/db").stdout)
    again = scene.gate("undo", "sts/db")
    assert again.exit_code == 3, str(again)
    assert "shop/db:2): an undo left it at" in again.stderr


@pytest.mark.contract("B71")
def test_what_an_autoscaler_scales_to_is_rolled_out(scene: Scene, audit: Trail) -> None:
    """Replicas that the manifest leaves out change meanwhile: done when as many run."""
    first, second = (stateful_set(image=f"shop/db:{version}") for version in (1, 2))
    scene.serve(first)
    del second["spec"]["replicas"]
    second["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]["periodSeconds"] = 2
    with scene.applying(second) as running:
        wait_for_new(scene)
        scene.objects.patch("statefulsets", "db", {"spec": {"replicas": 4}}, subresource="scale")
        result = running.wait()
    assert_verified(result)
    assert {image_of(pod) for pod in scene.objects.list_all("pods")} == {"shop/db:2"}
    assert len(scene.objects.list_all("pods")) == 4
    assert changes(audit) == [WRITTEN]


HELD: JSON = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}


@pytest.mark.contract("B1306")
@pytest.mark.parametrize(
    ("spec", "field"), [(HELD, "spec.updateStrategy"), ({"replicas": 4}, "spec.replicas")]
)
@pytest.mark.parametrize("dies", [False, True], ids=["", "recovered"])
def test_what_others_change_after_the_restoration_is_named(
    scene: Scene, spec: JSON, field: str, *, dies: bool
) -> None:
    """The strategy, or the replicas, are not as they were restored: said, with who did it."""
    scene.serve(settings("v1"), stateful_set(partition=0))
    bad = stateful_set(image="shop/db:2", behaviour="crash=0.1", partition=0)
    with scene.applying(settings("v2"), bad) as running:
        running.wait_for_line("restored +statefulset/db")
        if dies:
            running.kill()
        scene.objects.patch("statefulsets", "db", {"spec": spec})
        result = recover(scene, "sts/db") if dies else running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "statefulset/db is not as this run restored it", field), str(result)
    assert not warned(result, "configmap/settings is not"), result.document["warnings"]
