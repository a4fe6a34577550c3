"""What goes wrong in the cluster itself, and around the gate's process."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.face import behaviour as behaviours
from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import Scene, web
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubelet.api import JSON
from tests.e2e.conftest import GateWith
from tests.e2e.faults.ends import APPLIED, BOTH, BUDGETS, Version

judged = pytest.mark.parametrize("version", BOTH, ids=["good", "bad"])


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
