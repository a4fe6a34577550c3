"""Rollouts of StatefulSets: good, failed, slow; their claims and commands, and what others do."""

from __future__ import annotations

import json
import re

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_usage,
    assert_verified,
    changes,
    warned,
)
from tests.bed.pods import image_of
from tests.bed.scene import OURS, Scene, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import disruption_budget, stateful_set
from tests.scenarios.killing import recover
from tests.scenarios.pod_replacement import (
    CRASH,
    DEADLINE,
    NEVER,
    SOON,
    WRITTEN,
    all_run,
    evictions,
    images,
    waits,
)
from tests.scenarios.versions import screen


@pytest.mark.contract("B921")
@pytest.mark.parametrize("order", ["OrderedReady", "Parallel"])
def test_a_changed_image_is_verified_pod_by_pod(scene: Scene, audit: Trail, order: str) -> None:
    """All pods run the new version, the highest first, and the way back was named before."""
    scene.serve(stateful_set(podManagementPolicy=order))
    new = stateful_set(image="shop/db:2", podManagementPolicy=order)
    ended = assert_verified(scene.apply(new))
    assert ended["baseline"]["images"] == ["shop/db:1"]
    assert images(scene) == all_run(2)
    assert changes(audit) == [WRITTEN]


@waits
@pytest.mark.contract("B109", "B926")
def test_a_pod_that_still_terminates_at_the_timeout_is_named(scene: Scene) -> None:
    """The controller has acted: it is not called idle, and no pod is called new before it is."""
    pod = {"terminationGracePeriodSeconds": 90}
    scene.serve(stateful_set(behaviour="slow-termination=80s", pod=pod, replicas=2))
    limits = ("--progress-deadline", "20s", "--timeout", "40s", "--rollback-timeout", "35s")
    body = stateful_set(image="shop/db:2", replicas=2)
    result = scene.apply(body, flags=limits)
    assert result.exit_code == 5, str(result)
    assert "1 of 2 old pods available, pod/db-1 is terminating" in result.stdout
    for untrue in ("ControllerNotObserving", "kube-controller-manager", "new pod remains"):
        assert untrue not in result.stdout + result.stderr


@pytest.mark.contract("B924")
def test_pods_are_deleted_where_that_is_asked_for(scene: Scene, audit: Trail) -> None:
    """`--replace-blocked-pods delete` goes around the budgets, and keeps the time to terminate."""
    scene.serve(stateful_set(), disruption_budget(minAvailable=3))
    flags = (*SOON, "--replace-blocked-pods", "delete")
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=flags)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert images(scene) == all_run(1)
    assert evictions(audit) == []


@pytest.mark.contract("B928", "B1100", "B1133", "B1134")
def test_the_other_commands_take_a_stateful_set_by_its_kind(scene: Scene) -> None:
    """`verify`, `undo`, `restart`, `status` and `history` of `sts/db`; it cannot be paused."""
    scene.apply(stateful_set())
    assert_verified(scene.apply(stateful_set(image="shop/db:2")))
    ask = scene.gate
    judged = ask("verify", "sts/db", "--output", "json")
    assert judged.exit_code == 0
    assert [one["phase"] for one in judged.document["workloads"]] == [None]
    status = ask("status", "statefulset/db", "--output", "json")
    assert (status.exit_code, status.document["kind"]) == (0, "StatefulSet")
    versions = {(one["version"], one["replicaset"]) for one in status.document["pods"]}
    newest, *_ = json.loads(ask("history", "sts/db", "--output", "json").stdout)
    assert versions == {(newest["name"], newest["replicaset"])} == {(newest["name"], "")}
    assert newest["name"].startswith("db-")
    assert "shop/db:1" in ask("history", "sts/db").stdout
    assert_verified(ask("undo", "sts/db", "--output", "json"))
    assert images(scene) == all_run(1)
    assert_verified(ask("restart", "sts/db", "--output", "json"))
    assert_usage(ask("pause", "sts/db"), "statefulset/db cannot be paused: no StatefulSet can be")
    assert_usage(ask("resume", "sts/db"), "statefulset/db cannot be resumed: no StatefulSet can be")
    assert ask("verify", "db", "--output", "json").exit_code == 3
    assert "statefulset/db" in ask("locks").stdout
    released = ask("locks", "--release", "statefulset/db", "--yes")
    assert "nobody holds statefulset/db" in released.stderr


@waits
@pytest.mark.contract("B276", "B927")
def test_a_recorded_rollout_is_judged_as_it_was(scene: Scene) -> None:
    """Also where the gate's own clock decided, and where it removed a pod on the way."""
    scene.serve(stateful_set())
    scene.apply_as(OURS, stateful_set(image="shop/db:2", behaviour=NEVER))
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
    for number, version, verdict in (
        (1, stateful_set(image="shop/db:3"), ("complete", "Complete")),
        (2, stateful_set(image="shop/db:4", behaviour=NEVER), ("failed", DEADLINE)),
    ):
        recording = f"recorded-{number}.jsonl"
        scene.apply(version, flags=(*SOON, "--record", recording))
        document = scene.gate("replay", recording, "--output", "json").document
        assert (document["verdict"], document["reason"]) == verdict


@pytest.mark.contract("B926")
def test_a_pod_that_takes_its_time_to_terminate_is_progress(scene: Scene) -> None:
    """A database may take longer to stop than nothing may move."""
    pod = {"terminationGracePeriodSeconds": 20}
    scene.serve(stateful_set(behaviour="slow-termination=16s", pod=pod, replicas=2))
    result = scene.apply(stateful_set(image="shop/db:2", replicas=2), flags=SOON)
    assert_verified(result)


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
    marked = r"left by an undo +shop/db:2 +serving <- a failure would return here\n"
    assert re.search(marked, scene.gate("history", "sts/db").stdout)
    again = scene.gate("undo", "sts/db")
    assert again.exit_code == 3, str(again)
    assert "shop/db:2): an undo left it at" in again.stderr


@pytest.mark.contract("B71")
def test_what_an_autoscaler_scales_to_is_rolled_out(scene: Scene, audit: Trail) -> None:
    """Replicas that the manifest leaves out change meanwhile: done when as many run."""
    scene.serve(stateful_set())
    second = stateful_set(image="shop/db:2", behaviour="ready=5;only=1")
    del second["spec"]["replicas"]
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
