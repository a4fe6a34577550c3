"""Versions that fail: what gives them away, how soon, and what runs afterwards."""

from __future__ import annotations

import re

import pytest

from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified
from tests.bed.policies import Policies
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, web
from tests.cluster.kubelet.api import JSON
from tests.long import longer

NOW = "--fail-fast"
FATAL_RESTARTS = 3


def restarts(ended: JSON) -> int:
    """Return how often the container of the first cause was restarted."""
    found = re.search(r"(\d+) restarts?", ended["causes"][0]["message"])
    return int(found[1]) if found else 0


@pytest.mark.fault(30)
@pytest.mark.contract("B24", "B38", "B83", "B120", "B128", "B142")
@pytest.mark.on_oldest
def test_a_crash_loop_goes_back(scene: Scene) -> None:
    """The third restart ends the new version; the old ReplicaSet runs again, evidence is kept."""
    before = scene.serve(web())
    bad = web(2, behaviour="crash;code=7", env={"ADDED": "by the bad version"})
    result = scene.apply(bad)
    ended = assert_rolled_back(result, "CrashLoop")
    assert "exit code 7" in ended["causes"][0]["message"]
    assert "1 of 1 created pods" in ended["causes"][0]["message"]
    kinds = {piece["kind"] for piece in ended["evidence"]}
    assert {"event", "termination", "log"} <= kinds
    logs = [piece["text"] for piece in ended["evidence"] if piece["kind"] == "log"]
    assert any("web cannot start: the schema is missing; exit code 7" in text for text in logs)
    rollback = result.document["rollback"]
    assert (rollback["reason"], rollback["verified"]) == ("CrashLoop", True)
    live = assert_runs(scene.objects, "shop/web:1", revision=3)
    assert live["spec"]["template"] == before["spec"]["template"]
    assert len(scene.objects.list_all("replicasets")) == 2


LATE = "ProgressDeadlineExceeded"


@pytest.mark.fault(30)
@pytest.mark.contract("B86", "B88", "B89", "B92", "B93", "B98", "B105", "B111", "B112", "B120")
@pytest.mark.parametrize(
    ("behaviour", "flags", "reason", "cause", "words"),
    [
        ("oom=0.1", (), "CrashLoop", "OutOfMemory", ""),
        ("image-pull;why=not-found", (NOW, "image-pull=2s"), "ImagePull", "", "not found"),
        longer("image-pull;why=denied", (NOW, "image-pull=2s"), "ImagePull", "", "authorization"),
        ("invalid-image-name", (), "ImagePull", "", "shop/web:2"),
        longer("never-pull", (), "ImagePull", "", "shop/web:2"),
        ("config-error", (NOW, "container-config=1s"), "ContainerConfig", "", "secret not found"),
        ("flapping=0.3", (), "ReadinessLost", "", ""),
        ("never-ready", (), LATE, "NotReady", ""),
        ("unschedulable", (), LATE, "Unschedulable", "Insufficient cpu"),
        ("never-ready", ("--timeout", "3s"), "Timeout", "NotReady", ""),
    ],
)
def test_a_version_whose_pods_do_not_come_up_goes_back(
    scene: Scene, behaviour: str, flags: tuple[str, ...], reason: str, cause: str, words: str
) -> None:
    """At once, after a grace, or by the deadline: with the cause, in the words of who knows it."""
    scene.serve(web())
    by, ready_for = (3, 2) if reason == LATE else (60, 5)
    timing = {"progress_deadline_seconds": by, "min_ready_seconds": ready_for}
    bad = web(2, **{"behaviour": behaviour, **timing})
    ended = assert_rolled_back(scene.apply(bad, flags=flags), reason, cause=cause)
    assert words in ended["causes"][0]["message"]
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.fault(27)
@pytest.mark.contract("B95", "B112")
def test_a_quota_that_is_full_goes_back(scene: Scene) -> None:
    """Pods that a quota denies fail after its grace, with the server's message."""
    scene.serve(web())
    enforce(scene.objects, quota({"pods": "2"}))
    result = scene.apply(web(2), flags=[NOW, "pod-create=2s"])
    ended = assert_rolled_back(result, "PodCreateDenied")
    assert "exceeded quota: full" in ended["causes"][0]["message"]
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.fault(26)
@pytest.mark.contract("B97", "B112")
def test_a_replica_set_that_cannot_be_made_goes_back(scene: Scene) -> None:
    """A ReplicaSet that is denied fails after its grace, although nothing was observed."""
    scene.serve(web())
    enforce(scene.objects, quota({"count/replicasets.apps": "1"}))
    result = scene.apply(web(2), flags=[NOW, "replicaset-create=1s"])
    ended = assert_rolled_back(result, "ReplicaSetCreateError")
    assert "exceeded quota: full" in ended["causes"][0]["message"]
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.fault(32)
@pytest.mark.contract("B54")
def test_a_version_that_breaks_while_baking_goes_back(scene: Scene) -> None:
    """A version that was complete and then crashes in the bake window has failed."""
    scene.serve(web())
    bad = web(2, behaviour="ready-then-crash=1.5")
    result = scene.apply(bad, flags=["--bake", "30"])
    ended = assert_rolled_back(result, "CrashLoop")
    assert any("web lost its database" in piece["text"] for piece in ended["evidence"])
    assert "baking" in {each["event"] for each in result.document["timeline"]}
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.long
@pytest.mark.fault(29)
@pytest.mark.contract("B99")
@pytest.mark.newest_only("it serves no MutatingAdmissionPolicy of version v1")
def test_an_injected_container_never_fails_fast(scene: Scene, policies: Policies) -> None:
    """A sidecar that somebody injects and that crashes is told of, and left to the deadline."""
    scene.serve(web())
    bad = web(2, behaviour="crash=0.1;container=sidecar", progress_deadline_seconds=5)
    with policies.injecting_a_sidecar():
        result = scene.apply(bad)
    ended = assert_rolled_back(result, "ProgressDeadlineExceeded", cause="CrashLoop")
    assert "sidecar" in ended["causes"][0]["message"]
    assert "injected" in ended["causes"][0]["message"]
    assert restarts(ended) >= FATAL_RESTARTS
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B81")
def test_an_evicted_pod_is_no_evidence(scene: Scene) -> None:
    """A pod that its node evicted is replaced, and speaks against nothing."""
    scene.serve(web())
    body = web(2, behaviour="evicted=0.3;only=1", min_ready_seconds=1)
    result = scene.apply(body)
    assert_verified(result)
    assert any(pod["status"].get("reason") == "Evicted" for pod in scene.objects.list_all("pods"))
