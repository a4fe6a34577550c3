"""What somebody sets in a workload during its rollout, where the manifest leaves it open."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_verified, warned
from tests.bed.scene import MERGE_PATCH, Scene
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, stateful_set

pytestmark = pytest.mark.sandbox_only("what is said; a control plane has it in managedFields, too")

HAND = "kubectl-patch"


def patch(scene: Scene, resource: str, name: str, spec: JSON) -> None:
    """Merge a patch into the spec of a workload by hand."""
    path = f"{scene.objects.path(resource, name)}?fieldManager={HAND}"
    scene.client.json("PATCH", path, {"spec": spec}, MERGE_PATCH)


@pytest.mark.contract("B1843")
def test_a_partition_of_somebodys_is_named_with_who_set_it(scene: Scene) -> None:
    """It is complete as far as that goes, and the manifest had asked for all pods."""
    scene.serve(stateful_set())
    with scene.applying(stateful_set(image="shop/db:2", behaviour="ready=3")) as running:
        running.wait_for_line("applied +statefulset/db changed")
        patch(scene, "statefulsets", "db", {"updateStrategy": {"rollingUpdate": {"partition": 2}}})
        result = running.wait()
    assert_verified(result, "Partitioned", running="mixed")
    path = "spec.updateStrategy.rollingUpdate.partition"
    assert warned(result, f"statefulset/db: {HAND} set {path} during the rollout")
    again = scene.apply(stateful_set(image="shop/db:2"))
    assert not warned(again, "during the rollout")


@pytest.mark.contract("B1683", "B1843")
def test_a_placement_that_leaves_no_node_is_named_with_who_set_it(scene: Scene) -> None:
    """No node went: somebody's selector names none."""
    scene.serve(daemon_set())
    with scene.applying(daemon_set(image="shop/agent:2", behaviour="ready=6")) as running:
        running.wait_for_line("applied +daemonset/agent changed")
        selector = {"nodeSelector": {"no": "such"}}
        patch(scene, "daemonsets", "agent", {"template": {"spec": selector}})
        result = running.wait()
    assert_ended(result, 7, "inconclusive", "NoNode", running="none")
    path = "spec.template.spec.nodeSelector"
    assert warned(result, f"daemonset/agent: {HAND} set {path}")
