"""What goes wrong in the cluster itself, and around the gate's process."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sandbox.face import behaviour as behaviours
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
)
from tests.bed.scene import Scene, web
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubelet.api import JSON
from tests.e2e.conftest import GateWith
from tests.e2e.faults.ends import APPLIED, BUDGETS, Version, judged


@pytest.mark.fault(22)
@pytest.mark.contract("B511")
@judged
def test_a_controller_manager_that_is_restarted(
    scene: Scene, plane: ControlPlane, version: Version
) -> None:
    """Killed right after the apply and started again: the rollout goes on, and so the verdict."""
    scene.serve(web())
    with scene.applying(version.manifest, flags=BUDGETS) as running:
        running.wait_for_line(APPLIED)
        plane.controller_manager.kill()
        plane.controller_manager.start()
        result = running.wait()
    version.assert_judged(scene, result)


HELD_SECONDS = 30.0


@pytest.mark.fault(21)
@pytest.mark.contract("B109", "B116")
def test_controllers_that_are_held_for_longer_than_the_deadline(
    scene: Scene, plane: ControlPlane
) -> None:
    """Held still for 30 s with a deadline of 15 s: a good version is not rolled back for that."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="ready=3", progress_deadline_seconds=15)) as running:
        running.wait_for_line("following replicaset.*shop/web:2")
        hold_controllers(plane)
        result = running.wait()
    assert_verified(result)
    assert result.duration_seconds > HELD_SECONDS
    assert_runs(scene.objects, "shop/web:2")


def hold_controllers(plane: ControlPlane) -> None:
    """Hold the controller manager still for a while."""
    with plane.controller_manager.suspended():
        threading.Event().wait(HELD_SECONDS)


@pytest.mark.fault(21)
@pytest.mark.contract("B137")
def test_a_rollback_waits_for_controllers_as_long_as_its_own_timeout(
    scene: Scene, plane: ControlPlane
) -> None:
    """They are held still for 30 s of the way back with a deadline of 10 s: 4 once they go on."""
    scene.serve(web(progress_deadline_seconds=10))
    bad = web(2, behaviour="crash=0.1", progress_deadline_seconds=10)
    with scene.applying(bad, flags=("--rollback-timeout", "100s")) as running:
        running.wait_for_line("pod/.*CrashLoop")
        hold_controllers(plane)
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    assert result.duration_seconds > HELD_SECONDS
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.fault(21)
@pytest.mark.contract("B109", "B25")
def test_a_controller_that_does_not_act_is_the_cause(scene: Scene, plane: ControlPlane) -> None:
    """Nothing observes the change: that is the cause, and the rollback cannot be verified, 5."""
    scene.serve(web())
    flags = ("--timeout", "32s", "--rollback-timeout", "2s")
    with plane.controller_manager.suspended():
        result = scene.apply(web(2, progress_deadline_seconds=120), flags=flags)
    assert_ended(result, 5, "rollback-failed", "Timeout", cause="ControllerNotObserving")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.fault(31)
@pytest.mark.contract("B103")
def test_old_pods_that_flap_do_not_hold_the_deadline_up(scene: Scene) -> None:
    """Each change of an old pod's readiness is progress to the controller, not to the gate.

    They flap while the new version is judged alone: it has to be a baseline before, and again.
    """
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    given: JSON = {"strategy": strategy, "progress_deadline_seconds": 8}
    scene.serve(web(**given))
    old = [pod["metadata"]["name"] for pod in scene.objects.list_all("pods")]
    bad = web(2, behaviour="never-ready", **given)
    with scene.applying(bad, flags=("--timeout", "60s", "--rollback-timeout", "30s")) as running:
        running.wait_for_line(APPLIED)
        _ask(scene, old, "flapping=1")
        running.wait_for_line("failed +deployment/web")
        _ask(scene, old, "ready")
        result = running.wait()
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert "(the gate's own clock)" in result.stderr, str(result)
    assert_runs(scene.objects, "shop/web:1", revision=3)


def _ask(scene: Scene, pods: list[str], behaviour: str) -> None:
    """Let pods behave otherwise; one that has gone meanwhile cannot."""
    scene.kubectl("annotate", "--overwrite", "pods", *pods, f"{behaviours.ANNOTATION}={behaviour}")


@pytest.mark.fault(40)
@pytest.mark.contract("B41")
@judged
def test_two_templates_with_one_hash(scene: Scene, version: Version) -> None:
    """A stranger's ReplicaSet has the name that the new one would get: it gets another."""
    scene.serve(version.manifest | {"spec": version.manifest["spec"] | {"replicas": 0}})
    [twin] = scene.objects.list_all("replicasets")
    scene.kubectl("delete", "deployment/web", check=True)
    scene.objects.wait("replicasets", lambda found: not found)
    scene.serve(web())
    scene.objects.create("replicasets", _stranger(twin))
    result = scene.apply(version.manifest, flags=BUDGETS)
    (assert_verified(result) if version.is_good else assert_rolled_back(result, "CrashLoop"))
    live = assert_runs(scene.objects, "shop/web:2" if version.is_good else "shop/web:1")
    assert live["status"]["collisionCount"] == 1


def _stranger(twin: JSON) -> JSON:
    """Return a ReplicaSet of the same name that is nobody's, with other labels."""
    labels = {"app": "stranger"}
    container = {"name": "stranger", "image": "shop/stranger:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": twin["metadata"]["name"], "labels": labels}, "spec": spec}


SURROUNDINGS = {
    "stdout closed": ("sh", "-c", 'exec "$@" >&-', "sh"),
    "both closed": ("sh", "-c", 'exec "$@" >&- 2>&-', "sh"),
    "disk full": ("sh", "-c", 'exec "$@" >/dev/full', "sh"),
    "stderr full": ("sh", "-c", 'exec "$@" 2>/dev/full', "sh"),
    "no HOME": ("env", "-u", "HOME"),
    "read-only folder": ("env", "--chdir=/proc"),
}


@pytest.mark.fault(44)
@pytest.mark.contract("B514")
@pytest.mark.parametrize("name", SURROUNDINGS.keys())
@judged
def test_what_surrounds_the_process_does_not_decide(
    scene: Scene, gate_with: GateWith, kubeconfig: Path, version: Version, name: str
) -> None:
    """Nobody hears the verdict, or no file can be written: it is the same one."""
    scene.serve(web())
    wrapping = SURROUNDINGS[name]
    gate = gate_with(kubeconfig, *wrapping)
    path = scene.manifest(version.manifest)
    extra = ("--report", "json=/dev/full") if name == "disk full" else ()
    result = gate("apply", "-f", path, *BUDGETS, *extra, "--output", "json")
    assert result.exit_code == (0 if version.is_good else 4), str(result)
    assert_runs(scene.objects, "shop/web:2" if version.is_good else "shop/web:1")
