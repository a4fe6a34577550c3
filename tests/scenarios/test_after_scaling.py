"""A failing release right after somebody scaled its Deployment, whose conditions do not say so.

Its pods tell: those that it lacks were created after the others had served.
"""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import NO_DEADLINE_SECONDS
from tests.bed.bed import Bed
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import condition
from tests.played.bed import PlayedUsers
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.versions import CRASH, mode

SLOW = "ready=8"
"""How long a pod of what serves takes: what scales it up leaves it unavailable as long."""
AGE_SECONDS = 60.0

pytestmark = pytest.mark.sandbox_only("its pods have to get older")


@pytest.mark.contract("B1750")
def test_a_failure_returns_to_what_serves_without_a_progress_deadline(
    scene: Scene, bed: Bed
) -> None:
    """Its controller keeps no condition of progress."""
    endless = {"progress_deadline_seconds": NO_DEADLINE_SECONDS}
    scene.serve(settings("1"), web(behaviour=SLOW, **endless))
    _grow_old(bed)
    _scale(scene, 4)
    result = scene.apply(settings("2"), web(2, behaviour=CRASH, replicas=4, **endless))
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


@pytest.mark.contract("B1750")
def test_a_failure_returns_to_what_serves_after_a_pause(scene: Scene, bed: Bed) -> None:
    """The pause has replaced what the controller said of the last rollout."""
    scene.serve(settings("1"), web(behaviour=SLOW))
    _grow_old(bed)
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    _scale(scene, 4)
    scene.kubectl("rollout", "resume", "deployment/web", check=True)
    result = scene.apply(settings("2"), web(2, behaviour=CRASH, replicas=4))
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


@pytest.mark.contract("B1750")
def test_a_failure_returns_to_what_is_paused_with_the_resume(scene: Scene, bed: Bed) -> None:
    """The apply itself resumes it."""
    scene.serve(settings("1"), web(behaviour=SLOW))
    _grow_old(bed)
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    _scale(scene, 4)
    bad = web(2, behaviour=CRASH, replicas=4)
    result = scene.apply(settings("2"), bad, flags=["--resume"])
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


@pytest.mark.contract("B1750")
def test_what_was_verified_goes_before_what_its_pods_tell(scene: Scene, bed: Bed) -> None:
    """As where a condition tells it: too few pods of what somebody made serve."""
    assert_verified(scene.apply(settings("1"), web(replicas=4)))
    scene.change(web(2, behaviour=SLOW, replicas=2, progress_deadline_seconds=NO_DEADLINE_SECONDS))
    scene.objects.wait_complete("web")
    _grow_old(bed)
    _scale(scene, 4)
    flags = ["--force-conflicts"]
    result = scene.apply(settings("2"), web(3, behaviour=CRASH, replicas=4), flags=flags)
    said = "too few pods of what runs are available, so a failure returns to the last verified"
    assert said in result.stderr
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


@pytest.mark.contract("B1750")
def test_a_first_rollout_half_way_is_nothing_to_return_to(scene: Scene) -> None:
    """One of its four pods serves: all four were created together."""
    half = web(behaviour="ready=100;only=3, ready=1", replicas=4)
    scene.apply_as("kubectl", {**half, "spec": {**half["spec"], "progressDeadlineSeconds": 600}})
    scene.objects.wait_for("deployments", "web", _has_an_available_pod)
    result = scene.apply(web(2, behaviour=CRASH, replicas=4), flags=["--force-conflicts"])
    workload = assert_ended(result, 6, "failed", "CrashLoop")
    assert workload["baseline"] is None


@pytest.mark.contract("B1780")
def test_what_was_rolled_out_without_a_pod_is_nothing_to_return_to(scene: Scene) -> None:
    """With 0 replicas its controller called it rolled out; most of its first pods do not start."""
    scene.serve(settings("1"), web())
    _begin_from_0(scene, "half")
    bad = web(2, behaviour=CRASH, replicas=4)
    result = scene.apply(settings("2"), bad, flags=["--force-conflicts"])
    workload = assert_ended(result, 6, "failed", "CrashLoop")
    assert workload["baseline"] is None
    live = scene.objects.get("deployments", "web")
    assert (images(live), mode(scene)) == (["shop/web:2"], "2")
    why = "its controller may have called it rolled out when it had 0 replicas"
    assert f"cannot tell what serves ({why}" in result.stderr
    assert warned(result, "nobody can tell whether what ran before ever served", why)


@pytest.mark.contract("B1824", "B1780")
def test_a_recovery_says_that_nobody_can_tell(scene: Scene, program: PlayedGate) -> None:
    """The record of the dead gate keeps why, as the run itself would have said it."""
    scene.serve(settings("1"), web())
    _begin_from_0(scene, "half")
    bad = web(2, behaviour=CRASH, replicas=4)
    kill_apply(scene, program, settings("2"), bad, flags=["--force-conflicts"])
    result = recover(scene, "web")
    assert assert_ended(result, 6, "failed", "CrashLoop")["baseline"] is None
    why = "its controller may have called it rolled out when it had 0 replicas"
    assert warned(result, "nobody can tell whether what ran before ever served", why)


@pytest.mark.contract("B1780")
def test_what_was_verified_goes_before_what_was_rolled_out_without_a_pod(scene: Scene) -> None:
    """A failure returns to the last verified version, and it is said why."""
    assert_verified(scene.apply(settings("1"), web(replicas=4)))
    _begin_from_0(scene, "half")
    bad = web(2, behaviour=CRASH, replicas=4)
    result = scene.apply(settings("2"), bad, flags=["--force-conflicts"])
    said = "its status does not tell whether what runs ever served, so a failure returns to the"
    assert said in result.stderr
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


@pytest.mark.contract("B1780", "B1750")
def test_what_was_verified_served_whatever_its_controller_says(scene: Scene) -> None:
    """Its pods were ready at once, so that the time of its controller's condition shows nothing."""
    assert_verified(scene.apply(settings("1"), web(behaviour="ready=1;only=1, ready=2")))
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    scene.objects.wait_complete("web")
    scene.kubectl("scale", "deployment/web", "--replicas=4", check=True)
    scene.objects.wait_for("deployments", "web", _has_an_available_pod)
    flags = ["--replicas", "apply"]
    result = scene.apply(settings("2"), web(2, behaviour=CRASH, replicas=4), flags=flags)
    assert "a failure returns to revision 1 (shop/web:1)" in result.stderr
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


@pytest.mark.contract("B1780")
def test_what_served_before_it_had_0_replicas_is_returned_to(scene: Scene) -> None:
    """It was rolled out with pods, which the time of its controller's condition shows."""
    scene.serve(settings("1"), web(behaviour=SLOW))
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    scene.objects.wait_complete("web")
    scene.kubectl("scale", "deployment/web", "--replicas=4", check=True)
    scene.objects.wait_for("deployments", "web", _has_an_available_pod)
    result = scene.apply(settings("2"), web(2, behaviour=CRASH, replicas=4))
    _assert_back(scene, assert_rolled_back(result, "CrashLoop"))


def _begin_from_0(scene: Scene, version: str) -> None:
    """Scale `web` to 0, give it a version then, and scale it up until one of its 4 pods serves."""
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    scene.objects.wait_complete("web")
    scene.change(web(version, behaviour="ready=100;only=3, ready=1", replicas=0))
    scene.objects.wait_for("deployments", "web", _is_observed)
    scene.kubectl("scale", "deployment/web", "--replicas=4", check=True)
    scene.objects.wait_for("deployments", "web", _has_an_available_pod)


def _grow_old(bed: Bed) -> None:
    assert isinstance(bed.users, PlayedUsers)
    bed.users.played.clock.wait(AGE_SECONDS)


def _scale(scene: Scene, replicas: int) -> None:
    """Scale it up, and wait until its controller says that pods are missing."""
    scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)
    scene.objects.wait_for("deployments", "web", _is_unavailable)


def _assert_back(scene: Scene, workload: JSON) -> None:
    """Assert that the first version runs as a failure returned to it, with its configuration."""
    assert workload["baseline"]["images"] == ["shop/web:1"]
    assert_runs(scene.objects, "shop/web:1", replicas=4)
    assert mode(scene) == "1"


def _is_unavailable(web: JSON) -> bool:
    return condition(web, "Available").get("status") == "False"


def _is_observed(web: JSON) -> bool:
    return bool(web["status"]["observedGeneration"] == web["metadata"]["generation"])


def _has_an_available_pod(web: JSON) -> bool:
    return bool(web["status"].get("availableReplicas") == 1)
