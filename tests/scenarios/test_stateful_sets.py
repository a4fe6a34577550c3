"""Rollouts of StatefulSets: good, failed, slow, and the commands that take one."""

from __future__ import annotations

import json

import pytest

from tests.bed.expectations import (
    assert_rolled_back,
    assert_usage,
    assert_verified,
    changes,
)
from tests.bed.pods import image_of
from tests.bed.scene import OURS, Scene
from tests.cluster.audit import Trail
from tests.cluster.workloads import disruption_budget, stateful_set
from tests.scenarios.pod_replacement import (
    DEADLINE,
    NEVER,
    SOON,
    WRITTEN,
    all_run,
    evictions,
    images,
    waits,
)


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
