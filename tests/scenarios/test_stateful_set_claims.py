"""The claims of a StatefulSet: which of them an apply deletes, and that no way back does."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_refused, assert_rolled_back, assert_usage, changes, warned
from tests.bed.scene import Scene, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.pod_replacement import CRASH, NEVER, all_run, images
from tests.scenarios.versions import screen

CLAIM: JSON = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
LOSES_CLAIMS: JSON = {
    "volumeClaimTemplates": [CLAIM],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
}


def claims(scene: Scene) -> set[tuple[str, str]]:
    """Return the name and the uid of each claim."""
    found = scene.objects.list_all("persistentvolumeclaims")
    return {(one["metadata"]["name"], one["metadata"]["uid"]) for one in found}


@pytest.mark.contract("B1098")
def test_a_first_version_is_not_scaled_to_zero_where_that_deletes_claims(scene: Scene) -> None:
    """Its claims may hold the data of an earlier StatefulSet of that name: nothing is written."""
    path = scene.manifest(stateful_set(**LOSES_CLAIMS))
    with scene.gate.start("apply", "-f", path, "--on-first-failure", "scale-to-zero") as running:
        assert_usage(running.wait(), "statefulset/db cannot be scaled to zero")
    assert scene.objects.list_all("statefulsets") == []


@pytest.mark.contract("B1099")
def test_data_that_an_apply_deletes_itself_is_named_before(scene: Scene) -> None:
    """To scale down deletes the claims above, and no way back brings their data back."""
    scene.serve(stateful_set(replicas=3, **LOSES_CLAIMS))
    smaller = stateful_set(image="shop/db:2", replicas=2, **LOSES_CLAIMS)
    said = "scaled from 3 to 2, which deletes the claims of the pods that go"
    assert warned(scene.apply(smaller, flags=["--dry-run"]), said)
    same = stateful_set(image="shop/db:2", replicas=3, **LOSES_CLAIMS)
    assert not warned(scene.apply(same, flags=["--dry-run"]), said)


@pytest.mark.contract("B1266")
@pytest.mark.parametrize("behaviour", [CRASH, ""], ids=["failed", "good"])
def test_claims_that_an_apply_deleted_come_first_among_the_warnings(
    scene: Scene, behaviour: str
) -> None:
    """Those of the pods that went are named, whatever came of the version, and no other."""
    scene.serve(stateful_set(replicas=4, **LOSES_CLAIMS))
    before = claims(scene)
    smaller = stateful_set(image="shop/db:2", replicas=2, behaviour=behaviour, **LOSES_CLAIMS)
    result = scene.apply(smaller)
    assert {"data-db-2", "data-db-3"} == dict(before - claims(scene)).keys()
    assert result.exit_code == (4 if behaviour else 0)
    lost = "scaling it down deleted the claims data-db-2, data-db-3: their data is gone"
    assert result.document["warnings"][0] == f"statefulset/db: {lost}"
    assert lost in screen(result)
    assert not warned(result, ": the data in its volumes (data) stays as it is")
    left = "what is left of the data in its volumes (data)"
    assert result.document["workloads"][0]["lasting_effect"] == left
    assert warned(result, f"{left} stays as it is") is bool(behaviour)


@pytest.mark.contract("B1266")
@pytest.mark.sandbox_only("a pod that takes 40 s to go, whose claim a garbage collector may take")
def test_claims_of_pods_that_an_apply_did_not_come_to_are_not_called_deleted(scene: Scene) -> None:
    """The way back began before the controller had scaled it down any further."""
    slow = {"terminationGracePeriodSeconds": 60}
    big = stateful_set(replicas=4, behaviour="slow-termination=40s", pod=slow, **LOSES_CLAIMS)
    scene.serve(web(1), big)
    before = claims(scene)
    smaller = stateful_set(image="shop/db:2", replicas=2, pod=slow, **LOSES_CLAIMS)
    result = scene.apply(web(2, behaviour=CRASH), smaller)
    assert result.exit_code == 4, str(result)
    assert warned(result, "deleted the claim data-db-3: its data is gone")
    assert [name for name, _ in before - claims(scene)] == ["data-db-3"]


@pytest.mark.contract("B929", "B1098")
@pytest.mark.parametrize("size", [2, 3], ids=["as before", "more than before"])
def test_what_somebody_scales_up_meanwhile_keeps_its_claims(scene: Scene, size: int) -> None:
    """The way back keeps the number that it finds, whatever the failed apply asked for."""
    scene.serve(stateful_set(replicas=2, **LOSES_CLAIMS))
    broken = stateful_set(image="shop/db:2", replicas=size, behaviour=NEVER, **LOSES_CLAIMS)
    with scene.applying(broken, flags=("--progress-deadline", "10s")) as running:
        scene.objects.wait_for("statefulsets", "db", lambda one: one["metadata"]["generation"] == 2)
        scene.objects.patch("statefulsets", "db", {"spec": {"replicas": 4}}, subresource="scale")
        assert_rolled_back(running.wait(), "ProgressDeadlineExceeded", cause="NotReady")
    names = {one["metadata"]["name"] for one in scene.objects.list_all("persistentvolumeclaims")}
    assert names == {f"data-db-{number}" for number in range(4)}


@pytest.mark.contract("B929", "B1037")
def test_a_way_back_deletes_no_claims(scene: Scene) -> None:
    """With `whenScaled: Delete` the template goes back, and the pods that came stay."""
    scene.serve(stateful_set(replicas=2, **LOSES_CLAIMS))
    broken = stateful_set(image="shop/db:2", replicas=3, behaviour=CRASH, **LOSES_CLAIMS)
    result = scene.apply(broken)
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "a failure does not scale it down again")
    assert warned(result, "the data in its volumes (data) stays as it is: no rollback takes that")
    assert result.document["workloads"][0]["lasting_effect"] == "the data in its volumes (data)"
    assert images(scene) == all_run(1)
    names = {one["metadata"]["name"] for one in scene.objects.list_all("persistentvolumeclaims")}
    assert names == {f"data-db-{number}" for number in range(3)}


@pytest.mark.contract("B929")
def test_a_field_that_never_changes_is_refused_by_its_name(scene: Scene, audit: Trail) -> None:
    """The server lists what may change; the field that may not is the gate's to find."""
    scene.serve(stateful_set(volumeClaimTemplates=[CLAIM]))
    body = stateful_set(image="shop/db:2", serviceName="other", volumeClaimTemplates=[CLAIM])
    result = scene.gate("apply", "-f", str(scene.manifest(body)))
    assert_refused(result, "Rejected")
    assert "spec.serviceName of statefulset/db cannot change once it exists" in result.stderr
    assert images(scene) == all_run(1)
    assert changes(audit) == []
