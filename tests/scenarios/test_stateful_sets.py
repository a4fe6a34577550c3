"""Rollouts of StatefulSets: good, partitioned, left to others, failed, blocked and freed."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_usage,
    assert_verified,
    warned,
)
from tests.bed.scene import OURS, Scene
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import disruption_budget, stateful_set

CRASH = "crash=0.1"
NEVER = "never-ready"
SOON = ("--progress-deadline", "30s")


def images(scene: Scene) -> dict[str, str]:
    """Return the image of each pod of `db`, by its name."""
    return {
        pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"]
        for pod in scene.objects.list_all("pods")
    }


def all_run(version: int, replicas: int = 3) -> dict[str, str]:
    """Return what `images` is where each pod runs a version."""
    return {f"db-{number}": f"shop/db:{version}" for number in range(replicas)}


def evictions(audit: Trail) -> list[str]:
    """Return the pods that somebody asked to be evicted, in order."""
    return [one.name for one in audit.requests() if one.subresource == "eviction"]


def assert_blocked(result: Result, *words: str) -> None:
    """Assert that a pod is a cause, which names its revision and has these words."""
    causes = result.document["workloads"][0]["causes"]
    (said,) = (each["message"] for each in causes if each["reason"] == "BlockedByPod")
    missing = [word for word in ("of revision db-", *words) if word not in said]
    assert not missing, f"{missing} not in {said}"


@pytest.mark.contract("B921")
def test_a_changed_image_is_verified_pod_by_pod(scene: Scene) -> None:
    """All pods run the new version, the highest first, and the way back was named before."""
    scene.serve(stateful_set())
    ended = assert_verified(scene.apply(stateful_set(image="shop/db:2")))
    assert ended["baseline"]["images"] == ["shop/db:1"]
    assert images(scene) == all_run(2)


@pytest.mark.contract("B921", "B50")
def test_nothing_to_roll_out_of_a_stateful_set_is_no_change(scene: Scene) -> None:
    """The same manifest again makes no revision."""
    scene.serve(stateful_set())
    assert_verified(scene.apply(stateful_set()), "NoChange")


@pytest.mark.contract("B922")
def test_a_partition_ends_with_the_pods_above_it(scene: Scene) -> None:
    """One of three pods runs the new version: that is what was asked for."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", partition=2))
    assert_verified(result, "Partitioned")
    assert images(scene) == {**all_run(1), "db-2": "shop/db:2"}


@pytest.mark.contract("B923")
@pytest.mark.parametrize(
    "spec",
    [{"partition": 3}, {"updateStrategy": {"type": "OnDelete"}}],
    ids=["partition", "delete"],
)
def test_a_strategy_that_replaces_no_pod_is_no_rollout(scene: Scene, spec: JSON) -> None:
    """It is applied, and the old version runs on: exit 0 with a warning, and nothing verified."""
    scene.serve(stateful_set(**spec))
    result = scene.apply(stateful_set(image="shop/db:2", **spec))
    assert_verified(result, "NoRollout", running="baseline")
    assert warned(result, "nothing rolls")
    assert images(scene) == all_run(1)


@pytest.mark.contract("B921", "B120")
def test_a_crashing_version_of_a_stateful_set_goes_back(scene: Scene, audit: Trail) -> None:
    """The one new pod is all that exist of the version: it fails fast, and is replaced."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert images(scene) == all_run(1)
    assert evictions(audit) == ["db-2"]


@pytest.mark.contract("B924", "B920")
def test_a_version_that_never_gets_ready_is_freed_on_the_way_back(
    scene: Scene, audit: Trail
) -> None:
    """The controller waits for its pod for ever (kubernetes#67250): it is evicted."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=SOON)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert images(scene) == all_run(1)
    assert evictions(audit) == ["db-2"]


@pytest.mark.contract("B924")
def test_a_fix_goes_through_over_a_broken_version(scene: Scene, audit: Trail) -> None:
    """The broken pod of the version before is in the way of the fix as well."""
    scene.serve(stateful_set())
    scene.apply_as(OURS, stateful_set(image="shop/db:2", behaviour=NEVER))
    scene.objects.wait_for("pods", "db-2", lambda pod: _image(pod) == "shop/db:2")
    result = scene.apply(stateful_set(image="shop/db:3"), flags=SOON)
    assert_verified(result)
    assert images(scene) == all_run(3)
    assert evictions(audit) == ["db-2"]


@pytest.mark.contract("B925")
def test_a_disruption_budget_that_forbids_it_is_reported_and_not_forced(
    scene: Scene, audit: Trail
) -> None:
    """The pod stays, and the report names the pod, its revision, and what the server said."""
    scene.serve(stateful_set(), disruption_budget(minAvailable=3))
    broken = stateful_set(image="shop/db:2", behaviour=NEVER)
    result = scene.apply(broken, flags=(*SOON, "--rollback-timeout", "60s"))
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="NotReady")
    assert_blocked(result, "db-2")
    assert warned(result, "db-2 is in the way, and was not replaced: Cannot evict pod")
    assert set(evictions(audit)) == {"db-2"}
    assert images(scene)["db-2"] == "shop/db:2"


@pytest.mark.contract("B925")
def test_pods_are_left_where_they_may_never_be_replaced(scene: Scene, audit: Trail) -> None:
    """`--replace-blocked-pods never` names the pod, and leaves it to a person."""
    scene.serve(stateful_set())
    flags = (*SOON, "--replace-blocked-pods", "never", "--rollback-timeout", "40s")
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=flags)
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="NotReady")
    assert_blocked(result, "db-2")
    assert evictions(audit) == []


@pytest.mark.contract("B924")
def test_pods_are_deleted_where_that_is_asked_for(scene: Scene, audit: Trail) -> None:
    """`--replace-blocked-pods delete` goes around the budgets, and keeps the time to terminate."""
    scene.serve(stateful_set(), disruption_budget(minAvailable=3))
    flags = (*SOON, "--replace-blocked-pods", "delete")
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=flags)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert images(scene) == all_run(1)
    assert evictions(audit) == []


def _image(pod: JSON) -> str:
    image: str = pod["spec"]["containers"][0]["image"]
    return image


@pytest.mark.contract("B928")
def test_the_other_commands_take_a_stateful_set_by_its_kind(scene: Scene) -> None:
    """`verify`, `restart`, `undo`, `status` and `history` of `sts/db`; `pause` has nothing to do."""
    scene.apply(stateful_set())
    assert_verified(scene.apply(stateful_set(image="shop/db:2")))
    ask = scene.gate
    assert ask("verify", "sts/db", "--output", "json").exit_code == 0
    assert ask("status", "statefulset/db").exit_code == 0
    assert "shop/db:1" in ask("history", "sts/db").stdout
    assert_verified(ask("undo", "sts/db", "--output", "json"))
    assert images(scene) == all_run(1)
    assert_verified(ask("restart", "sts/db", "--output", "json"))
    assert_usage(ask("pause", "sts/db"), "statefulset/db cannot be paused: no StatefulSet can be")
    assert ask("verify", "db", "--output", "json").exit_code == 3
