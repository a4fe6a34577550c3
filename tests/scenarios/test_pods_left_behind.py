"""Ways back after which pods stay for a person: named at once, and waited for by nobody."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, changes, warned
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.scene import OURS, Scene, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import disruption_budget
from tests.scenarios.pod_replacement import (
    A_MOMENT_SECONDS,
    ON_DELETE,
    ROLLING,
    db,
    evictions,
    images_of,
    waits,
)
from tests.scenarios.test_pods_taken_back import SHORT, SOON, STRATEGIES, agent
from tests.scenarios.versions import screen


def assert_left(result: Result, pod: str, reason: str = "CrashLoop") -> None:
    """Assert that the end leaves a pod to a person, and came at once."""
    ended = assert_ended(result, 5, "rollback-failed", reason)
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == [pod]
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


@waits
@pytest.mark.contract("B1092", "B1094")
def test_what_a_budget_forbids_is_advised_otherwise(scene: Scene, audit: Trail) -> None:
    """To evict once more is not, nor is an undo that would be refused; the deletion works."""
    scene.serve(db(1, **ON_DELETE), disruption_budget(minAvailable=3))
    result = scene.apply(db(2, behaviour="crash=0.1", **ROLLING), flags=SHORT)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    delete = "kubectl delete pod/db-2"
    (cause,) = (
        one for one in result.document["workloads"][0]["causes"] if one["reason"] == "BlockedByPod"
    )
    assert (cause["remedy"], cause["subject"]) == ("delete-pod", "pod/db-2")
    advice = scene.gate("verify", "sts/db", "--progress-deadline", "10s").stdout
    assert delete in advice, advice
    assert "rollout-gate undo" not in advice
    assert "--replace-blocked-pods" not in advice
    assert all(each.endswith("eviction 429") for each in changes(audit)[2:]), changes(audit)
    scene.objects.delete("pods", "db-2")
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:1")
    assert scene.gate("verify", "sts/db").exit_code == 0


@waits
@pytest.mark.contract("B1092", "B1232")
def test_pods_that_would_come_back_at_the_failed_version_are_named(
    scene: Scene, audit: Trail
) -> None:
    """It was complete: below the partition of before each of its pods comes back as it is.

    The Deployment that goes back beside it is followed until it has.
    """
    slow: JSON = {"strategy": {"type": "Recreate"}}
    scene.serve(db(1, partition=3), web(1, behaviour="ready=20", **slow))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=30, **slow)
    result = scene.apply(db(2, partition=0), bad)
    assert result.exit_code == 5, str(result)
    outcomes = {one["name"]: one for one in result.document["workloads"]}
    ended = outcomes["db"]
    assert (ended["outcome"], outcomes["web"]["outcome"]) == ("rollback-failed", "rolled-back")
    (cause,) = (one for one in ended["causes"] if one["reason"] == "BlockedByPod")
    assert "below the partition 3" in cause["message"]
    assert (cause["remedy"], cause["subject"]) == ("lower-partition", "")
    assert evictions(audit) == []
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


@waits
@pytest.mark.contract("B1092", "B1232")
def test_a_canary_that_was_promoted_does_not_come_back(scene: Scene, audit: Trail) -> None:
    """The partition is back, and all pods run the version that two of them had not run before."""
    scene.serve(db(1), web())
    assert_ended(scene.apply(db(2, partition=2)), 0, "verified", "Partitioned", running="mixed")
    late = web(2, behaviour="crash=20")
    result = scene.apply(db(2, partition=0), late, flags=SHORT)
    ended = {one["name"]: one for one in result.document["workloads"]}
    assert result.exit_code == 5, str(result)
    assert ended["db"]["outcome"] == "rollback-failed"
    assert images_of(scene) == ["shop/db:2"] * 3
    assert evictions(audit) == []
    said = " ".join(result.document["message"].split()) + str(ended["db"]["causes"])
    assert "below the partition 2" in said, said


@waits
@pytest.mark.contract("B1232")
def test_pods_that_are_left_to_people_are_not_waited_for(scene: Scene) -> None:
    """With `never` nobody but a person replaces the pod, and the end says at once which."""
    scene.serve(db(1, **ON_DELETE))
    flags = ("--replace-blocked-pods", "never")
    result = scene.apply(db(2, behaviour="crash=0.1", **ROLLING), flags=flags)
    assert_left(result, "pod/db-2")


@waits
@pytest.mark.contract("B1552")
def test_every_pod_that_is_left_to_people_is_named(scene: Scene) -> None:
    """All of them run the version that failed its check; nothing is wrong with any of them."""
    scene.serve(db(1, **ON_DELETE))
    flags = ("--replace-blocked-pods", "never", "--smoke-test", "false")
    result = scene.apply(db(2, **ROLLING), flags=flags)
    assert_left(result, "pod/db-2", "CheckFailed")
    text = screen(result)
    assert "(also db-0, db-1) is left as it is by the controller" in text
    assert "see what is wrong" not in text
    assert "then each other pod of that revision; which pod has which" in text


@waits
@pytest.mark.contract("B1552")
def test_every_pod_that_people_replaced_is_named(scene: Scene) -> None:
    """Two of three run what did not complete in time; each is named, whichever comes first."""
    scene.serve(db(1, **ON_DELETE))
    flags = ("--on-delete", "wait", "--progress-deadline", "20s")
    with scene.applying(db(2, **ON_DELETE), flags=flags) as running:
        running.wait_for_line("applied")
        for name in ("db-2", "db-1"):
            scene.objects.delete("pods", name)
            scene.objects.wait_for("pods", name, lambda pod: image_of(pod) == "shop/db:2")
        result = running.wait()
    assert_left(result, "pod/db-1", "ProgressDeadlineExceeded")
    assert "(also db-2) stays until somebody deletes it" in result.document["message"]


@waits
@pytest.mark.contract("B1401")
@pytest.mark.parametrize("way", ["apply", "recover"])
def test_a_pod_that_works_and_that_only_people_replace_is_named_at_once(
    scene: Scene, way: str
) -> None:
    """Somebody brought db-2 to the version, which then ran out of time, or whose gate died."""
    scene.serve(db(1, **ON_DELETE))
    flags = ("--on-delete", "wait", "--progress-deadline", "20s")
    with scene.applying(db(2, **ON_DELETE), flags=flags) as running:
        running.wait_for_line("applied")
        scene.objects.delete("pods", "db-2")
        scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
        if way == "recover":
            running.kill()
            result = scene.gate("recover", "--output", "json")
        else:
            result = running.wait()
    reason = "ProgressDeadlineExceeded" if way == "apply" else "Interrupted"
    assert_left(result, "pod/db-2", reason)
    assert "kubectl delete pod/db-2 -n" in screen(result)


@waits
@pytest.mark.contract("B1401")
def test_a_pod_that_somebody_has_just_replaced_is_waited_for(scene: Scene) -> None:
    """It starts for longer than nothing may move: only then is the one that stays named."""
    at_once: JSON = {**ON_DELETE, "podManagementPolicy": "Parallel"}
    scene.serve(db(1, behaviour="ready=15", **at_once))
    flags = ("--on-delete", "wait", "--progress-deadline", "20s")
    with scene.applying(db(2, **at_once), flags=flags) as running:
        running.wait_for_line("applied")
        for name in ("db-2", "db-1"):
            scene.objects.delete("pods", name)
            scene.objects.wait_for("pods", name, lambda pod: image_of(pod) == "shop/db:2")
        running.wait_for_line("restored +statefulset/db")
        scene.objects.delete("pods", "db-2")
        result = running.wait()
    assert result.exit_code == 5, str(result)
    (ended,) = result.document["workloads"]
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == ["pod/db-1"]
    back = scene.objects.get("pods", "db-2")
    assert image_of(back) == "shop/db:1"
    assert {"type": "Ready", "status": "True"}.items() <= _condition(back, "Ready").items()


def _condition(pod: JSON, kind: str) -> JSON:
    found: JSON = next(one for one in pod["status"]["conditions"] if one["type"] == kind)
    return found


@waits
@pytest.mark.contract("B1401")
def test_a_crashing_pod_of_a_daemon_set_that_people_replaced_is_named_at_once(
    scene: Scene, nodes: Nodes
) -> None:
    """The template is back, and by OnDelete the controller leaves the pod as it is."""
    nodes.join(3)
    scene.serve(agent(nodes, 1, ON_DELETE))
    bad = agent(nodes, 2, ON_DELETE, behaviour="crash=0.1")
    with scene.applying(bad, flags=("--on-delete", "wait")) as running:
        running.wait_for_line("applied")
        scene.objects.delete(
            "pods", scene.objects.list_all("pods", "app=agent")[0]["metadata"]["name"]
        )
        result = running.wait()
    (stays,) = (
        one["metadata"]["name"]
        for one in scene.objects.list_all("pods", "app=agent")
        if image_of(one) == "shop/agent:2"
    )
    assert_left(result, f"pod/{stays}")
    assert f"kubectl delete pod/{stays} -n" in screen(result)


@waits
@pytest.mark.contract("B925", "B1319", "B1582")
def test_a_removal_that_the_server_refuses_for_good_is_not_waited_for(
    scene: Scene, audit: Trail
) -> None:
    """It evicts no pod that two budgets select, whatever they allow."""
    other = disruption_budget(maxUnavailable=1)
    other["metadata"]["name"] = "other"
    scene.serve(db(1, **ON_DELETE), disruption_budget(maxUnavailable=1), other)
    result = scene.apply(db(2, behaviour="crash=0.1", **ROLLING))
    assert_left(result, "pod/db-2")
    causes = result.document["workloads"][0]["causes"]
    (said,) = (one["message"] for one in causes if one["reason"] == "BlockedByPod")
    assert "its removal is refused: This pod has more than one PodDisruptionBudget" in said
    assert len(evictions(audit)) <= 1


@waits
@pytest.mark.contract("B1101", "B1237")
@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param({"type": "OnDelete", "rollingUpdate": None}, id="OnDelete"),
        pytest.param({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}, id="partition"),
    ],
)
@pytest.mark.parametrize("dies", [False, True], ids=["", "recovered"])
def test_pods_that_somebody_holds_meanwhile_are_theirs(
    scene: Scene, audit: Trail, theirs: JSON, *, dies: bool
) -> None:
    """What the way back restored replaces pods: whoever ends that wants them as they are.

    Also between the death of the gate and `recover`, which finds only what is there now.
    """
    scene.serve(db(1))
    with scene.applying(db(2, behaviour="never-ready"), flags=SOON) as running:
        running.wait_for_line("restored +statefulset/db")
        if dies:
            running.kill()
        scene.objects.patch("statefulsets", "db", {"spec": {"updateStrategy": theirs}})
        result = scene.gate("recover", "sts/db", "--output", "json") if dies else running.wait()
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded")
    (cause,) = (
        one for one in result.document["workloads"][0]["causes"] if one["reason"] == "BlockedByPod"
    )
    assert (cause["remedy"], cause["subject"]) == ("delete-pod", "pod/db-2")
    assert evictions(audit) == []
    assert images_of(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]


@pytest.mark.contract("B1093", "B1231")
@pytest.mark.parametrize(("before", "failed"), STRATEGIES)
def test_what_becomes_of_the_pods_is_said_before_the_first_write(
    scene: Scene, before: JSON, failed: JSON
) -> None:
    """With what the flag makes of it; where the strategy stays, there is nothing to say."""
    scene.serve(db(1, **before))
    said = "its controller then leaves pods of the failed version as they are"
    flags = ["--dry-run"]
    forecast = scene.apply(db(2, **failed), flags=flags)
    assert warned(forecast, said, "the gate evicts them")
    once_complete = warned(forecast, "if all pods ran the failed version", "exit 5")
    assert once_complete == ("partition" in before)
    never = [*flags, "--replace-blocked-pods", "never"]
    assert warned(scene.apply(db(2, **failed), flags=never), said, "you have to delete them")
    assert not warned(scene.apply(db(2, **before), flags=flags), said)


@pytest.mark.contract("B1095")
def test_a_short_deadline_leaves_time_to_replace_the_pod_in_the_way(scene: Scene) -> None:
    """The controller has its 5 s first, and the standstill ends nothing before them."""
    scene.serve(db(1))
    scene.apply_as(OURS, db(2, behaviour="never-ready"))
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
    result = scene.apply(db(3), flags=["--progress-deadline", "3s"])
    assert result.exit_code == 0, str(result)
    assert images_of(scene) == ["shop/db:3"] * 3
