"""What an `undo` does with pods of the undone version that the strategy which comes back holds."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_verified,
    changes,
    images,
)
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, settings, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, disruption_budget, stateful_set
from tests.scenarios.pod_replacement import ON_DELETE, ROLLING, db, evictions
from tests.scenarios.versions import history_rows, screen

UNDO = ("undo", "sts/db", "--output", "json")


def apply_db(scene: Scene, version: int, /, **over: object) -> Result:
    """Apply a version of the StatefulSet `db` of three pods; it is verified."""
    result = scene.apply(db(version, **over))
    assert (result.exit_code, result.document["outcome"]) == (0, "verified"), str(result)
    return result


def versions(scene: Scene, name: str = "db") -> list[str]:
    """Return the tags of the images of all pods of a workload, by the names of the pods."""
    pods = scene.objects.list_all("pods", f"app={name}")
    return [image_of(pod).rpartition(":")[2] for pod in pods]


def step_twice(scene: Scene, last: int) -> None:
    """Bring one pod to version 2 and then, by a lower partition, one more to version `last`."""
    apply_db(scene, 1)
    apply_db(scene, 2, partition=2)
    apply_db(scene, last, partition=1)


@pytest.mark.contract("B1300")
@pytest.mark.parametrize("last", [2, 4], ids=["same-template", "another"])
def test_an_undo_of_a_step_replaces_the_pod_that_the_partition_holds(
    scene: Scene, audit: Trail, last: int
) -> None:
    """The pod is back at what ran there before the step; before the write it is named."""
    step_twice(scene, last)
    result = scene.gate(*UNDO)
    assert_verified(result, "Partitioned", running="mixed")
    assert versions(scene) == ["1", "1", "2"]
    assert evictions(audit) == ["db-1"]
    before, _, _ = result.stderr.partition(" applied ")
    assert "db-1 of the version that is undone stays by the update strategy" in before


@pytest.mark.contract("B1300")
@pytest.mark.sandbox_only("the gate is killed between two of its requests")
def test_an_undo_whose_gate_dies_is_not_complete_while_the_pod_stays(scene: Scene) -> None:
    """`recover` knows by the record which version is undone, and takes the half undo back."""
    step_twice(scene, 4)
    with scene.gate.start(*UNDO) as running:
        running.wait_for_line("blocked +statefulset/db: db-1")
        running.kill()
    assert versions(scene) == ["1", "4", "2"]
    result = scene.gate("recover", "sts/db", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert versions(scene) == ["1", "4", "4"]


@pytest.mark.contract("B1300")
@pytest.mark.parametrize("kind", ["statefulset", "daemonset"])
def test_an_undo_to_on_delete_replaces_all_pods(scene: Scene, nodes: Nodes, kind: str) -> None:
    """Nobody else does; with `OnDelete` before it as well, people replace them."""
    nodes.join(2)
    name, make = ("db", stateful_set) if kind == "statefulset" else ("agent", daemon_set)
    over: JSON = {} if kind == "statefulset" else {"pool": nodes.pool}
    scene.apply(make(image=f"shop/{name}:1", **ON_DELETE, **over))
    assert_verified(scene.apply(make(image=f"shop/{name}:2", **ROLLING, **over)))
    result = scene.gate("undo", f"{kind}/{name}", "--output", "json")
    assert_verified(result)
    assert set(versions(scene, name)) == {"1"}


@pytest.mark.contract("B1301")
def test_an_undo_that_would_change_no_pod_is_refused_with_what_works(
    scene: Scene, audit: Trail
) -> None:
    """The canary was promoted: its partition alone would come back, over pods that all run it."""
    apply_db(scene, 1)
    apply_db(scene, 2, partition=2)
    apply_db(scene, 2, partition=0)
    written = changes(audit)
    result = scene.gate(*UNDO)
    assert_refused(result, "BlockedByPod", "no pod of statefulset/db would change", "shop/db:2")
    works = ("undo", "sts/db", "--deployment-only", "--to-revision", "1")
    assert " ".join(works).replace("sts/db", "statefulset/db") in result.stderr
    assert changes(audit) == written
    assert_verified(scene.gate(*works, "--output", "json"))
    assert versions(scene) == ["1", "1", "1"]


@pytest.mark.contract("B1301")
def test_an_undo_whose_configuration_alone_has_an_effect_says_so(scene: Scene) -> None:
    """What else goes back is worth it; that no pod changes is a warning."""
    scene.apply(settings("v1"), stateful_set(image="shop/db:1", partition=2))
    assert_verified(scene.apply(settings("v2"), stateful_set(image="shop/db:1")))
    result = scene.gate(*UNDO)
    assert result.exit_code == 0, str(result)
    assert any(
        "no pod of statefulset/db would change" in one for one in result.document["warnings"]
    )


@pytest.mark.contract("B1301")
def test_an_undo_below_a_partition_that_holds_what_it_undoes_is_refused(scene: Scene) -> None:
    """All pods ran it: those below the partition would come back at it."""
    apply_db(scene, 1, partition=2)
    apply_db(scene, 2, partition=0)
    result = scene.gate(*UNDO)
    assert_refused(result, "BlockedByPod", "db-0, db-1 would stay", "below the partition 2")
    assert versions(scene) == ["2", "2", "2"]
    (hint,) = (line for line in result.stderr.splitlines() if "--deployment-only" in line)
    assert "with a partition of 0" in hint
    history = history_rows(scene, "sts/db")
    assert history[0]["running"], history


@pytest.mark.contract("B1301")
def test_an_undo_that_may_replace_no_pod_is_refused(scene: Scene) -> None:
    """By `--replace-blocked-pods never` the pod would stay."""
    step_twice(scene, 4)
    result = scene.gate(*UNDO, "--replace-blocked-pods", "never")
    assert_refused(result, "BlockedByPod", "db-1", "--replace-blocked-pods is never")
    assert versions(scene) == ["1", "4", "4"]


@pytest.mark.contract("B1301")
def test_an_undo_passes_the_promotion_that_failed_on_all_pods(scene: Scene) -> None:
    """What the report advises returns to another version: the partition alone changes no pod."""
    apply_db(scene, 1)
    apply_db(scene, 2, partition=2)
    check = ("--smoke-test", "false", "--on-failure", "keep")
    failed = scene.apply(stateful_set(image="shop/db:2", partition=0), flags=check)
    assert_ended(failed, 6, "failed", "CheckFailed", running="new")
    marked = [
        one for one in scene.gate("history", "sts/db").stdout.splitlines() if "undo would" in one
    ]
    assert [one.split()[0] for one in marked] == ["1"], marked
    assert_verified(scene.gate(*UNDO))
    assert versions(scene) == ["1", "1", "1"]


def marked(scene: Scene) -> list[list[str]]:
    """Return each marked revision of `history` with the ways that return to it."""
    lines = scene.gate("history", "sts/db").stdout.splitlines()
    return [
        [line.split()[0], line.partition("<- a ")[2].partition(" would")[0]]
        for line in lines
        if "<- a " in line
    ]


@pytest.mark.contract("B1345", "B1348")
@pytest.mark.parametrize("theirs", [None, 0, 3], ids=["restored", "lowered", "raised"])
def test_a_failure_returns_past_the_promotion_that_failed(scene: Scene, theirs: int | None) -> None:
    """The canary was verified, and its pods failed since, whatever its partition is now."""
    apply_db(scene, 1)
    apply_db(scene, 2, partition=2)
    body = stateful_set(image="shop/db:2", partition=0)
    failed = scene.apply(body, flags=("--smoke-test", "false"))
    assert failed.exit_code == 5, str(failed)
    text = " ".join(screen(failed).split())
    assert "statefulset/db failed, and its rollback is not verified; all pods run" in text
    assert "failed revision 2, shop/db:2" in text
    assert "rollout-gate undo statefulset/db" in text
    assert "lower the partition" not in text
    flags: tuple[str, ...] = ("--progress-deadline", "20s")
    if theirs is not None:
        strategy = {"rollingUpdate": {"partition": theirs}}
        scene.objects.patch("statefulsets", "db", {"spec": {"updateStrategy": strategy}})
        flags = (*flags, "--take-over", "tests")
    assert marked(scene) == [["1", "failure or undo"]]
    bad = stateful_set(image="shop/db:3", partition=0, behaviour="crash=0.1")
    assert_rolled_back(scene.apply(bad, flags=flags), "CrashLoop")
    assert versions(scene) == ["1", "1", "1"]


BARRED = ("--progress-deadline", "12s", "--timeout", "25s", "--rollback-timeout", "15s")


@pytest.mark.contract("B1353")
def test_an_undo_that_a_budget_holds_up_leaves_its_version_to_the_next_one(scene: Scene) -> None:
    """No pod of it was made: it has not failed, nothing is wanted of a pod, and it may go again."""
    scene.apply(stateful_set(image="shop/db:1", **ON_DELETE))
    apply_db(scene, 2, **ROLLING)
    scene.objects.create("poddisruptionbudgets", disruption_budget(minAvailable=3))
    result = scene.gate(*UNDO, *BARRED)
    ended = assert_rolled_back(result, "ProgressDeadlineExceeded", cause="BlockedByPod")
    assert ended["causes"][0]["subject"] == "pod/db-2"
    text = screen(result)
    assert "leave pod/db-2: it runs what serves again" in text
    assert "kubectl delete" not in text
    assert remembered(scene, "sts/db", "shop/db:1") == ("not verified", "BlockedByPod")
    scene.objects.delete("poddisruptionbudgets", "db")
    assert_verified(scene.gate(*UNDO))
    assert versions(scene) == ["1", "1", "1"]


@pytest.mark.contract("B1353")
@pytest.mark.parametrize("kind", ["statefulset", "deployment"])
def test_an_undo_that_a_quota_holds_up_leaves_its_version_to_the_next_one(
    scene: Scene, kind: str
) -> None:
    """No pod of it could be created, and what was verified once is not barred for that."""
    name, make = ("db", stateful_set) if kind == "statefulset" else ("web", web)
    for version in (1, 2):
        assert_verified(scene.apply(make(image=f"shop/{name}:{version}", replicas=2)))
    enforce(scene.objects, quota({"pods": "1"}))
    undo = ("undo", f"{kind}/{name}", "--output", "json")
    result = scene.gate(*undo, *BARRED)
    assert result.exit_code in (4, 5), str(result)
    found = remembered(scene, f"{kind}/{name}", f"shop/{name}:1")
    assert found == ("not verified", "PodCreateDenied")
    scene.objects.delete("resourcequotas", "full")
    assert_verified(scene.gate(*undo))
    assert images(scene.objects.get(f"{kind}s", name)) == [f"shop/{name}:1"]


def remembered(scene: Scene, workload: str, image: str) -> tuple[str, str]:
    """Return what the history says of the version with an image, and why."""
    shown = history_rows(scene, workload)
    (found,) = (one for one in shown if one["images"] == [image])
    return found["verdict"], found["reason"]
