"""The pod at which a StatefulSet stops: when it is replaced, and when it is reported and left."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_verified,
    changes,
    warned,
)
from tests.bed.pods import behave, image_of
from tests.bed.quotas import enforce
from tests.bed.scene import OURS, Scene, quota, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import is_ready
from tests.cluster.workloads import disruption_budget
from tests.scenarios.pod_replacement import A_MOMENT_SECONDS, db
from tests.scenarios.versions import history_rows, one_line, screen

WRITTEN = "patch statefulsets/db"
EVICTED = "create pods/db-2/eviction"
SOON = ("--progress-deadline", "6s")
KEPT = (*SOON, "--on-failure", "keep")


def pod_of(scene: Scene, number: int) -> JSON:
    """Return a pod of `db`."""
    return scene.objects.get("pods", f"db-{number}")


def unready(scene: Scene, number: int) -> None:
    """Let a pod be ready no more, whatever its version."""
    behave(scene, [pod_of(scene, number)], "never-ready")
    scene.objects.wait_for("pods", f"db-{number}", lambda pod: not is_ready(pod))


def broken(scene: Scene) -> None:
    """Let the version 2 come as an earlier run has left it: db-2 of it is never ready."""
    scene.serve(db(1))
    scene.apply_as(OURS, db(2, behaviour="never-ready"))
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")


def causes(ended: JSON) -> dict[str, str]:
    """Return the causes of a workload's end, by their reasons."""
    return {cause["reason"]: cause["message"] for cause in ended["causes"]}


def all_run(scene: Scene, version: int) -> bool:
    """Whether each of the three pods has the image of a version."""
    return [image_of(pod_of(scene, number)) for number in range(3)] == [f"shop/db:{version}"] * 3


@pytest.mark.contract("B120", "B920", "B921", "B924", "B1565")
@pytest.mark.on_oldest
@pytest.mark.parametrize("enough", [(), ("--require", "2"), ("--require", "min-available")])
def test_the_way_back_replaces_the_pod_that_blocks_it(
    scene: Scene, audit: Trail, enough: tuple[str, ...]
) -> None:
    """Two writes of the StatefulSet and one eviction; the pods that ran are the same ones."""
    scene.serve(db(1))
    before = [pod_of(scene, number)["metadata"]["uid"] for number in (0, 1)]
    assert_rolled_back(scene.apply(db(2, behaviour="crash=0.1"), flags=enough), "CrashLoop")
    assert all_run(scene, 1)
    assert [pod_of(scene, number)["metadata"]["uid"] for number in (0, 1)] == before
    assert changes(audit) == [WRITTEN, WRITTEN, EVICTED]


@pytest.mark.contract("B924", "B1235")
def test_a_fix_replaces_what_an_earlier_run_left(scene: Scene, audit: Trail) -> None:
    """A good version over a broken one is held up by the same pod; the log says until when."""
    broken(scene)
    result = scene.apply(db(3), flags=SOON)
    assert_verified(result)
    awaited = (
        "is in the way; the gate evicts it once it cannot recover, or nothing has moved for 3 s;"
        " to go on at once: kubectl delete pod/db-2 -n "
    )
    assert result.stderr.count(awaited) == 1, result.stderr
    assert all_run(scene, 3)
    assert changes(audit) == [WRITTEN, EVICTED]


@pytest.mark.contract("B1882")
@pytest.mark.parametrize("command", ["apply", "no-change", "delete", "undo", "recover"])
def test_the_pods_that_a_run_removed_are_named_at_its_end(scene: Scene, command: str) -> None:
    """However well it ends, in the document and on the screen: the logs are gone with them."""
    flags = ("--replace-blocked-pods", "delete") if command == "delete" else ()
    if command in ("undo", "recover"):
        scene.serve(db(1))
        kept = KEPT if command == "undo" else ()
        with scene.applying(db(2, behaviour="never-ready"), flags=kept) as running:
            scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
            running.wait() if command == "undo" else running.kill()
        result = scene.gate(command, "sts/db", "--output", "json")
    else:
        broken(scene)
        if command == "no-change":
            scene.apply_as(OURS, db(3))
        result = scene.apply(db(3), flags=(*SOON, *flags))
        assert result.exit_code == 0
        assert (result.document["reason"] == "NoChange") == (command == "no-change")
    done = "deleted" if command == "delete" else "evicted"
    said = f"statefulset/db: this run {done} db-2 with its log, for the controller to replace it"
    assert result.document["warnings"].count(said) == 1, result.document["warnings"]
    assert said in one_line(screen(result))


@pytest.mark.contract("B1400", "B1566")
@pytest.mark.parametrize(
    ("command", "enough"), [("undo", ()), ("undo", ("--require", "2")), ("recover", ())]
)
def test_a_way_back_waits_for_no_pod_that_it_takes_back(
    scene: Scene, audit: Trail, command: str, enough: tuple[str, ...]
) -> None:
    """The version was kept, or its gate died before anything was found against it."""
    scene.serve(db(1))
    flags = KEPT if command == "undo" else ()
    with scene.applying(db(2, behaviour="never-ready"), flags=flags) as running:
        scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
        if command == "undo":
            assert running.wait().exit_code == 6
        else:
            running.kill()
    result = scene.gate(command, "sts/db", *enough, "--output", "json")
    assert result.exit_code == (0 if command == "undo" else 4), str(result)
    assert result.document["duration_seconds"] < A_MOMENT_SECONDS
    scene.objects.wait_for(
        "statefulsets", "db", lambda one: one["status"].get("readyReplicas") == 3
    )
    assert all_run(scene, 1)
    assert changes(audit) == [WRITTEN, WRITTEN, EVICTED]


@pytest.mark.contract("B925")
def test_a_pod_below_the_partition_is_left(scene: Scene, audit: Trail) -> None:
    """It would come back at its old version: it is named, and nobody touches it."""
    scene.serve(db(1))
    unready(scene, 0)
    ended = assert_ended(
        scene.apply(db(2, partition=1), flags=KEPT),
        6,
        "failed",
        "ProgressDeadlineExceeded",
        cause="BlockedByPod",
    )
    assert "below the partition 1" in ended["causes"][0]["message"]
    assert ended["causes"][0]["remedy"] == "lower-partition"
    assert changes(audit) == [WRITTEN]


HOLD: JSON = {"metadata": {"finalizers": ["example.com/hold"]}}
RELEASED: JSON = {"metadata": {"finalizers": None}}


@pytest.mark.contract("B1314")
def test_a_pod_that_its_finalizer_keeps_is_the_cause_and_no_version_is_blamed(
    scene: Scene,
) -> None:
    """No pod of the new version ever came: it did not complete, and is not remembered as failed."""
    scene.serve(db(1))
    scene.objects.patch("pods", "db-2", HOLD)
    result = scene.apply(db(2), flags=KEPT)
    ended = assert_ended(
        result, 6, "failed", "ProgressDeadlineExceeded", cause="BlockedByFinalizer"
    )
    cause = ended["causes"][0]
    assert cause["subject"] == "pod/db-2"
    assert "stays until its finalizer example.com/hold is removed" in cause["message"]
    text = screen(result)
    assert "the new version of statefulset/db has no pods; the old ones still serve" in text
    assert "see whose they are" in text
    shown = scene.gate("status", "sts/db").stdout
    assert "pod/db-2: being deleted, and stays until its finalizer example.com/hold" in shown
    (new,) = (one for one in history_rows(scene, "sts/db") if one["images"] == ["shop/db:2"])
    assert (new["verdict"], new["reason"]) == ("not verified", "BlockedByFinalizer")
    scene.objects.patch("pods", "db-2", RELEASED)


@pytest.mark.sandbox_only("it waits until clocks run out")
@pytest.mark.contract("B1466")
def test_a_pod_that_takes_long_to_end_is_the_cause_and_no_version_is_blamed(
    scene: Scene,
) -> None:
    """An undo that waits for it did not complete, and bars the good version to no later undo."""
    flags = ("--progress-deadline", "15s", "--timeout", "40s", "--rollback-timeout", "25s")
    pod = {"terminationGracePeriodSeconds": 300}
    assert_verified(scene.apply(db(1)))
    assert_verified(scene.apply(db(2, behaviour="slow-termination=200s", pod=pod)))
    result = scene.gate("undo", "sts/db", *flags, "--output", "json")
    (ended,) = result.document["workloads"]
    assert (result.exit_code, ended["outcome"]) == (5, "rollback-failed"), str(result)
    (cause,) = ended["causes"]
    assert (cause["reason"], cause["subject"]) == ("BlockedByTermination", "pod/db-2")
    assert "has not ended (it may take 300 s)" in cause["message"]
    text = screen(result)
    assert "statefulset/db did not complete" in text
    assert "see if its node is up" in text
    shown = history_rows(scene, "sts/db")
    old = [one["verdict"] for one in shown if one["images"] == ["shop/db:1"]]
    assert "failed" not in old, shown
    scene.objects.wait_for("pods", "db-2", is_ready)
    again = scene.gate("undo", "sts/db", "--dry-run")
    assert again.exit_code == 0, str(again)
    assert "shop/db:1" in again.stderr


def test_a_pending_pod_goes_whatever_its_budget_says(scene: Scene, audit: Trail) -> None:
    """The API server asks no PodDisruptionBudget about a pod that has not run."""
    scene.serve(db(1), disruption_budget(minAvailable=3))
    flags = ("--fail-fast", "image-pull=1s")
    assert_rolled_back(scene.apply(db(2, behaviour="image-pull"), flags=flags), "ImagePull")
    assert all_run(scene, 1)
    assert changes(audit) == [WRITTEN, WRITTEN, EVICTED]


@pytest.mark.contract("B925", "B1582", "B1882")
def test_a_budget_that_forbids_it_is_named_and_not_forced(scene: Scene, audit: Trail) -> None:
    """Asked once, refused with 429: the pod stays, and the cause says which budget keeps it."""
    scene.serve(db(1), disruption_budget(minAvailable=3))
    flags = (*SOON, "--rollback-timeout", "8s")
    result = scene.apply(db(2, behaviour="never-ready"), flags=flags)
    ended = assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="NotReady")
    assert "db-2 of revision db-" in causes(ended)["BlockedByPod"]
    budget = "its removal is refused: The disruption budget db needs 3 healthy pods and has 2"
    assert budget in causes(ended)["BlockedByPod"]
    assert not warned(result, "The disruption budget")
    assert not warned(result, "this run")
    assert "the rollback was not complete within 8 s: 2 of 3 old pods" in ended["message"]
    assert [one["remedy"] for one in ended["causes"] if one["remedy"]] == ["replace-pod"]
    assert "disruption budget" in result.stdout
    assert image_of(pod_of(scene, 2)) == "shop/db:2"
    assert changes(audit) == [WRITTEN, WRITTEN, f"{EVICTED} 429"]


@pytest.mark.contract("B1582")
def test_what_holds_up_a_way_back_is_on_the_screen_beside_others(scene: Scene) -> None:
    """Of several workloads too: why it failed is one thing, what keeps it another."""
    scene.serve(db(1), disruption_budget(minAvailable=3), web())
    path = scene.manifest(db(2, behaviour="never-ready"), web(2))
    said = one_line(scene.gate("apply", "-f", path, *SOON, "--rollback-timeout", "8s").stdout)
    assert "the rollback was not complete within 8 s" in said
    assert "its removal is refused: The disruption budget db needs 3 healthy pods" in said


@pytest.mark.contract("B1236", "B1317")
def test_a_quota_that_keeps_a_pod_from_coming_back_is_named(scene: Scene) -> None:
    """The pod in the way has gone, and the server does not let another one in."""
    scene.serve(db(1))
    with scene.applying(db(2, behaviour="crash=2"), flags=("--rollback-timeout", "30s")) as running:
        scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
        enforce(scene.objects, quota({"pods": "2"}))
        result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert "exceeded quota" in causes(ended)["PodCreateDenied"]
    text = screen(result)
    assert "kubectl describe resourcequota" in text
    assert "maxSurge" not in text


@pytest.mark.sandbox_only("it waits until clocks run out")
@pytest.mark.contract("B1269")
def test_a_version_before_that_does_not_come_back_is_looked_at_by_its_workload(
    scene: Scene,
) -> None:
    """The events of the StatefulSet may say why; its ControllerRevision has none."""
    scene.serve(db(1, behaviour="ready=25s", podManagementPolicy="Parallel"))
    flags = (*SOON, "--replace-blocked-pods", "delete", "--rollback-timeout", "20s")
    bad = db(2, behaviour="crash=0.1", podManagementPolicy="Parallel")
    with scene.applying(bad, flags=flags) as running:
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="CrashLoop")
    text = screen(result)
    assert "see what keeps the version before from serving:" in text
    assert "kubectl describe statefulset/db" in text
    assert "controllerrevision/db" not in text.partition("next")[2]
