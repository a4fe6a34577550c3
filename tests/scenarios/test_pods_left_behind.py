"""Ways back after which a controller replaces no pod by itself: `OnDelete`, a partition."""

from __future__ import annotations

import itertools

import pytest

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.bed.expectations import assert_ended, assert_rolled_back, changes, warned
from tests.bed.nodes import Nodes
from tests.bed.pods import behave, image_of
from tests.bed.scene import OURS, Scene, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, disruption_budget, stateful_set

ON_DELETE: JSON = {"updateStrategy": {"type": "OnDelete"}}
ROLLING: JSON = {"updateStrategy": {"type": "RollingUpdate"}}
WRITTEN = "patch statefulsets/db"
STRATEGIES = [
    pytest.param(ON_DELETE, ROLLING, id="OnDelete"),
    pytest.param({"partition": 3}, {"partition": 0}, id="partition"),
]
MIXED = ["shop/db:1", "shop/db:2", "shop/db:2"]
waits = pytest.mark.sandbox_only("it waits until clocks run out")
SHORT = ("--rollback-timeout", "40s")
A_MOMENT_SECONDS = 60
"""By default a way back has a quarter of an hour."""
SOON = (*SHORT, "--progress-deadline", "20s")


def db(version: int, /, **over: object) -> JSON:
    """Return a StatefulSet `db` of three pods."""
    return stateful_set(**{"image": f"shop/db:{version}", **over})  # type: ignore[arg-type]


def agent(nodes: Nodes, version: int, spec: JSON, **over: object) -> JSON:
    """Return a DaemonSet `agent` on the nodes of a test."""
    given: JSON = {"image": f"shop/agent:{version}", "pool": nodes.pool, **spec, **over}
    return daemon_set(**given)


def images(scene: Scene, name: str = "db") -> list[str]:
    """Return the images of all pods of a workload, by the names of the pods."""
    return [image_of(pod) for pod in scene.objects.list_all("pods", f"app={name}")]


def evicted(audit: Trail) -> list[str]:
    """Return the pods whose eviction was asked for, in order."""
    return [one.name for one in audit.requests() if one.subresource == "eviction"]


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
    assert images(scene) == ["shop/db:1"] * 3
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
    assert images(scene, "db") == ["shop/db:1"] * 3
    assert evicted(audit) == ["db-2", "db-1", "db-0"]


@pytest.mark.contract("B1090")
def test_a_partition_that_moved_on_is_taken_back_pod_by_pod(scene: Scene) -> None:
    """The same template below a lower partition: what it reached returns to what ran there."""
    scene.serve(db(1))
    scene.apply_as(OURS, db(2, partition=2, minReadySeconds=5))
    scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
    scene.objects.wait_for(
        "statefulsets", "db", lambda one: one["status"]["availableReplicas"] == 3
    )
    with scene.applying(db(2, partition=0, minReadySeconds=5), flags=SOON) as running:
        scene.objects.wait_for("pods", "db-1", lambda pod: image_of(pod) == "shop/db:2")
        behave(scene, [scene.objects.get("pods", "db-1")], "crash=0.1")
        result = running.wait()
    assert result.exit_code == 4, str(result)
    assert images(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]


@pytest.mark.contract("B1090")
def test_a_daemon_set_is_taken_back_node_by_node(scene: Scene, nodes: Nodes) -> None:
    """Its controller replaces none by OnDelete either."""
    nodes.join(3)
    scene.serve(agent(nodes, 1, ON_DELETE))
    result = scene.apply(agent(nodes, 2, ROLLING, behaviour="crash=0.1"), flags=SHORT)
    assert_rolled_back(result, "CrashLoop")
    assert images(scene, "agent") == ["shop/agent:1"] * 3
    assert strategy(scene, "daemonsets", "agent")["type"] == "OnDelete"


@waits
@pytest.mark.contract("B1090")
def test_pods_of_a_daemon_set_that_work_go_one_by_one(scene: Scene, nodes: Nodes) -> None:
    """Where another workload of the manifest failed."""
    nodes.join(3)
    scene.serve(agent(nodes, 1, ON_DELETE), web(1))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=30)
    result = scene.apply(agent(nodes, 2, ROLLING), bad)
    assert result.exit_code == 4, str(result)
    assert images(scene, "agent") == ["shop/agent:1"] * 3


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
            one["status"]["availableReplicas"] == replicas and one["status"]["updatedReplicas"] == 2
        ),
    )
    scene.apply_as(OURS, db(2, partition=held + 1, replicas=replicas))
    scene.objects.wait_for(
        "statefulsets",
        "db",
        lambda one: one["status"]["observedGeneration"] == one["metadata"]["generation"],
    )
    assert images(scene)[-3:] == MIXED


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
    assert images(scene) == MIXED
    assert evicted(audit) == []


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
    assert images(scene) == ["shop/db:1", *MIXED]
    assert evicted(audit) == ["db-1"]


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
        "statefulsets", "db", lambda one: one["status"]["availableReplicas"] == 3
    )
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=30)
    result = scene.apply(db(1, partition=0), bad)
    assert result.exit_code == 4, str(result)
    assert images(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]
    assert evicted(audit) == []


@pytest.mark.contract("B1104")
def test_recover_leaves_the_pods_of_what_was_not_written_yet(scene: Scene, audit: Trail) -> None:
    """The gate died behind its first write: the StatefulSet is as it was before."""
    scene.serve(settings("v1"), db(1), web(1))
    raise_partition_behind(scene)
    with scene.applying(settings("v2"), db(3, partition=2), web(2)) as running:
        running.wait_for_line("applied +configmap/settings")
        running.kill()
    result = scene.gate("recover", "sts/db", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert images(scene) == MIXED
    assert evicted(audit) == []


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
    assert all((b - a).total_seconds() >= 12 for a, b in itertools.pairwise(times))


@pytest.mark.contract("B1091")
@pytest.mark.parametrize(("before", "failed"), STRATEGIES)
def test_a_gate_that_dies_before_it_replaces_the_pod_is_finished(
    scene: Scene, before: JSON, failed: JSON
) -> None:
    """The template is the old one already: only the record tells whose pod is to go."""
    scene.serve(db(1, **before))
    with scene.applying(db(2, behaviour="crash=0.1", **failed), flags=SHORT) as running:
        running.wait_for_line("restored +statefulset/db")
        running.kill()
    result = scene.gate("recover", "sts/db", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert images(scene) == ["shop/db:1"] * 3


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
    assert evicted(audit) == []
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
    assert images(scene) == ["shop/db:2"] * 3
    assert evicted(audit) == []
    said = " ".join(result.document["message"].split()) + str(ended["db"]["causes"])
    assert "below the partition 2" in said, said


@waits
@pytest.mark.contract("B1232")
def test_pods_that_are_left_to_people_are_not_waited_for(scene: Scene) -> None:
    """With `never` nobody but a person replaces the pod, and the end says at once which."""
    scene.serve(db(1, **ON_DELETE))
    flags = ("--replace-blocked-pods", "never")
    result = scene.apply(db(2, behaviour="crash=0.1", **ROLLING), flags=flags)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == ["pod/db-2"]
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


@waits
@pytest.mark.contract("B1319")
def test_a_pod_that_people_brought_to_the_failed_version_is_not_waited_for(scene: Scene) -> None:
    """It cannot recover, and with OnDelete nobody but a person replaces it."""
    scene.serve(db(1, **ON_DELETE))
    bad = db(2, behaviour="crash=0.1", **ON_DELETE)
    with scene.applying(bad, flags=("--on-delete", "wait")) as running:
        running.wait_for_line("applied")
        scene.objects.delete("pods", "db-2")
        result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == ["pod/db-2"]
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


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
    assert result.exit_code == 5, str(result)
    (ended,) = result.document["workloads"]
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == ["pod/db-2"]
    assert "kubectl delete pod/db-2 -n" in verdict_text(result.document, Style(width=200))
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


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
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop")
    (stays,) = (
        one["metadata"]["name"]
        for one in scene.objects.list_all("pods", "app=agent")
        if image_of(one) == "shop/agent:2"
    )
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == [f"pod/{stays}"]
    assert f"kubectl delete pod/{stays} -n" in verdict_text(result.document, Style(width=200))
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


@waits
@pytest.mark.contract("B1319")
def test_a_removal_that_the_server_refuses_for_good_is_not_waited_for(
    scene: Scene, audit: Trail
) -> None:
    """It evicts no pod that two budgets select, whatever they allow."""
    other = disruption_budget(maxUnavailable=1)
    other["metadata"]["name"] = "other"
    scene.serve(db(1, **ON_DELETE), disruption_budget(maxUnavailable=1), other)
    result = scene.apply(db(2, behaviour="crash=0.1", **ROLLING))
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert [one["subject"] for one in ended["causes"] if one["remedy"]] == ["pod/db-2"]
    assert len(evicted(audit)) <= 1
    assert result.document["rollback"]["duration_seconds"] < A_MOMENT_SECONDS


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
    assert evicted(audit) == []
    assert images(scene) == ["shop/db:1", "shop/db:1", "shop/db:2"]


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
    assert images(scene) == ["shop/db:3"] * 3
