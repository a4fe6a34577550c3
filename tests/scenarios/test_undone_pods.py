"""What an `undo` does with pods of the undone version that the strategy which comes back holds."""

from __future__ import annotations

import json

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_verified,
    changes,
)
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, settings
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, disruption_budget, stateful_set

UNDO = ("undo", "sts/db", "--output", "json")
ON_DELETE: JSON = {"updateStrategy": {"type": "OnDelete"}}
ROLLING: JSON = {"updateStrategy": {"type": "RollingUpdate"}}


def apply_db(scene: Scene, version: int, /, **over: object) -> Result:
    """Apply a version of the StatefulSet `db` of three pods; it is verified."""
    body = stateful_set(**{"image": f"shop/db:{version}", **over})  # type: ignore[arg-type]
    result = scene.apply(body)
    assert (result.exit_code, result.document["outcome"]) == (0, "verified"), str(result)
    return result


def versions(scene: Scene, name: str = "db") -> list[str]:
    """Return the tags of the images of all pods of a workload, by the names of the pods."""
    pods = scene.objects.list_all("pods", f"app={name}")
    return [image_of(pod).rpartition(":")[2] for pod in pods]


def evicted(audit: Trail) -> list[str]:
    """Return the pods whose eviction was asked for, in order."""
    return [one.name for one in audit.requests() if one.subresource == "eviction"]


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
    assert evicted(audit) == ["db-1"]
    before, _, _ = result.stderr.partition(" applied ")
    assert "db-1 of the version that is undone stays by the update strategy" in before


@pytest.mark.contract("B1300")
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
    history = json.loads(scene.gate("history", "sts/db", "--output", "json").stdout)
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


@pytest.mark.contract("B1345")
@pytest.mark.parametrize("theirs", [None, 0, 3], ids=["restored", "lowered", "raised"])
def test_a_failure_returns_past_the_promotion_that_failed(scene: Scene, theirs: int | None) -> None:
    """The canary was verified, and its pods failed since, whatever its partition is by now."""
    apply_db(scene, 1)
    apply_db(scene, 2, partition=2)
    body = stateful_set(image="shop/db:2", partition=0)
    assert scene.apply(body, flags=("--smoke-test", "false")).exit_code == 5
    flags: tuple[str, ...] = ("--progress-deadline", "20s")
    if theirs is not None:
        strategy = {"rollingUpdate": {"partition": theirs}}
        scene.objects.patch("statefulsets", "db", {"spec": {"updateStrategy": strategy}})
        flags = (*flags, "--take-over", "tests")
    assert marked(scene) == [["1", "failure or undo"]]
    bad = stateful_set(image="shop/db:3", partition=0, behaviour="crash=0.1")
    assert_rolled_back(scene.apply(bad, flags=flags), "CrashLoop")
    assert versions(scene) == ["1", "1", "1"]


@pytest.mark.contract("B1347")
@pytest.mark.parametrize("held_by", ["budget", "quota"])
def test_a_version_of_which_no_pod_was_made_is_not_remembered_as_failed(
    scene: Scene, held_by: str
) -> None:
    """Once what held it up is gone, the same undo works."""
    over = ON_DELETE if held_by == "budget" else {}
    apply_db(scene, 1)
    if over:
        assert scene.apply(stateful_set(image="shop/db:1", **ON_DELETE)).exit_code == 0
    apply_db(scene, 2, **ROLLING)
    resource = "poddisruptionbudgets" if held_by == "budget" else "resourcequotas"
    if held_by == "budget":
        scene.objects.create(resource, disruption_budget(minAvailable=3))
    else:
        enforce(scene.objects, quota({"pods": "2"}))
    result = scene.gate(*UNDO, "--progress-deadline", "10s", "--rollback-timeout", "20s")
    assert result.exit_code in (4, 5), str(result)
    shown = json.loads(scene.gate("history", "sts/db", "--output", "json").stdout)
    (first,) = (one for one in shown if one["images"] == ["shop/db:1"])
    reason = "BlockedByPod" if held_by == "budget" else "PodCreateDenied"
    assert (first["verdict"], first["reason"]) == ("not judged", reason)
    scene.objects.delete(resource, "db" if held_by == "budget" else "full")
    assert_verified(scene.gate(*UNDO))
    assert versions(scene) == ["1", "1", "1"]
