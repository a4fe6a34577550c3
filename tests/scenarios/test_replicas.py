"""Whose number of replicas runs: the manifest's, an autoscaler's, or what somebody scaled to."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, autoscaler, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import condition
from tests.long import longer
from tests.scenarios.versions import CRASH, mode

SLOW = "ready=8"
"""How long a pod of what serves takes: what scales it up leaves it unavailable as long."""


def scaled(scene: Scene, replicas: int) -> None:
    """Scale the Deployment as people do, and wait for it."""
    scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)
    scene.objects.wait_complete("web")


def verified(scene: Scene, *bodies: JSON, flags: tuple[str, ...] = ()) -> None:
    """Apply what is to come through."""
    assert_verified(scene.apply(*bodies, flags=flags))


def without_replicas(version: int, **more: str) -> JSON:
    """Return a Deployment that does not say how many pods it wants."""
    return web(version, replicas=None, **more)


@pytest.mark.contract("B72", "B74")
@pytest.mark.parametrize("replicas", [0, 5])
@pytest.mark.parametrize("command", ["apply", "preflight", longer("dry-run")])
def test_what_somebody_scaled_by_hand_is_not_scaled_back(
    scene: Scene, replicas: int, command: str
) -> None:
    """The refusal names the numbers, and what each flag would do."""
    verified(scene, web())
    scaled(scene, replicas)
    words = {"dry-run": ("apply", "--dry-run")}.get(command, (command,))
    result = scene.gate(*words, "-f", scene.manifest(web(2)))
    message = f"deployment/web has {replicas} replicas, the manifest asks for 2, and 2 were applied"
    assert_refused(result, "Conflict", message)
    hint = f"--replicas keep leaves {replicas}; --replicas apply makes it 2"
    assert hint in result.stderr
    assert_runs(scene.objects, "shop/web:1", replicas=replicas)


@pytest.mark.contract("B72")
@pytest.mark.parametrize("replicas", [0, 5])
def test_the_number_that_runs_can_be_kept(scene: Scene, replicas: int) -> None:
    """Once: the next apply asks again."""
    verified(scene, web())
    scaled(scene, replicas)
    result = scene.gate(
        "apply", "-f", scene.manifest(web(2)), "--replicas", "keep", "--output", "json"
    )
    assert result.exit_code == 0, str(result)
    assert warned(result, f"keeps its {replicas} replicas, not the manifest's 2")
    assert not warned(result, "autoscaler"), result.document["warnings"]
    assert_runs(scene.objects, "shop/web:2", replicas=replicas)
    assert_refused(scene.apply(web(3)), "Conflict", f"has {replicas} replicas")


@pytest.mark.contract("B72")
@pytest.mark.parametrize("replicas", [0, 5])
def test_the_manifests_number_can_be_imposed(scene: Scene, replicas: int) -> None:
    """Over the number that another manager owns as well; then it is ours again."""
    verified(scene, web())
    scaled(scene, replicas)
    result = scene.apply(web(2), flags=["--replicas", "apply"])
    assert_verified(result)
    assert warned(result, f"goes from {replicas} to 2 replicas")
    assert_runs(scene.objects, "shop/web:2")
    verified(scene, web(3, replicas=4))
    assert_runs(scene.objects, "shop/web:3", replicas=4)


@pytest.mark.contract("B71")
@pytest.mark.parametrize("replicas", [2, longer(None)])
def test_an_autoscaler_of_the_same_manifest_finds_what_runs(
    scene: Scene, replicas: int | None
) -> None:
    """It comes with the version that leaves replicas to it: 6 stay 6, they do not become 1."""
    verified(scene, web(replicas=6))
    verified(scene, web(2, replicas=replicas), autoscaler())
    assert_runs(scene.objects, "shop/web:2", replicas=6)


@pytest.mark.contract("B71")
def test_what_the_manifest_does_not_name_is_kept(scene: Scene) -> None:
    """Leaving out what we alone own would reset it to 1."""
    verified(scene, web(replicas=6))
    verified(scene, without_replicas(2))
    assert_runs(scene.objects, "shop/web:2", replicas=6)
    scaled(scene, 3)
    verified(scene, without_replicas(3))
    assert_runs(scene.objects, "shop/web:3", replicas=3)


@pytest.mark.contract("B72", "B75")
def test_a_rollback_gives_back_a_number_that_was_imposed_over(scene: Scene) -> None:
    """5 were somebody's, 2 were imposed, the version failed: 5 again."""
    verified(scene, web())
    scaled(scene, 5)
    result = scene.apply(web(2, behaviour=CRASH), flags=["--replicas", "apply"])
    assert_rolled_back(result, "CrashLoop")
    assert not warned(result, "autoscaler"), result.document["warnings"]
    assert_runs(scene.objects, "shop/web:1", replicas=5)


@pytest.mark.contract("B75")
def test_a_rollback_gives_back_the_nought_that_nobody_owned(scene: Scene) -> None:
    """The API's default for what no apply names any more is 1, which nobody asked for."""
    verified(scene, web(replicas=3))
    scaled(scene, 0)
    crashing = web(2, behaviour=CRASH, replicas=3)
    result = scene.apply(crashing, flags=["--replicas", "apply"])
    assert_rolled_back(result, "CrashLoop", running="none")
    assert_runs(scene.objects, "shop/web:1", replicas=0)
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", "has 0 replicas")


@pytest.mark.contract("B75")
@pytest.mark.parametrize("replicas", [5, 1])
def test_a_rollback_from_nought_keeps_what_somebody_scaled_to_meanwhile(
    scene: Scene, replicas: int
) -> None:
    """Neither the nought of before nor the manifest's number is wanted any more."""
    verified(scene, web(replicas=3))
    scaled(scene, 0)
    slow = web(2, behaviour="never-ready", replicas=3, progress_deadline_seconds=15)
    with scene.applying(slow, flags=["--replicas", "apply"]) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)
        result = running.wait()
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert_runs(scene.objects, "shop/web:1", replicas=replicas)


def scaled_down(scene: Scene, *flags: str, **more: int | None) -> None:
    """Let a first version fail that the gate scales to 0."""
    scale = ("--on-first-failure", "scale-to-zero", *flags)
    result = scene.apply(web(behaviour=CRASH, **more), flags=list(scale))
    assert_ended(result, 6, "failed", "CrashLoop", cause="CrashLoop")
    assert scene.objects.get("deployments", "web")["spec"]["replicas"] == 0


def owners_of_replicas(scene: Scene) -> list[tuple[str, str]]:
    """Return manager and operation of who owns the number."""
    entries = scene.objects.get("deployments", "web")["metadata"]["managedFields"]
    return [
        (entry["manager"], entry["operation"])
        for entry in entries
        if "f:replicas" in entry["fieldsV1"].get("f:spec", {})
    ]


@pytest.mark.contract("B76", "B136")
@pytest.mark.parametrize("flags", [(), longer(("--no-lock",))])
def test_the_gates_own_scale_down_is_no_conflict(scene: Scene, flags: tuple[str, ...]) -> None:
    """The next apply goes on with the manifest's number, and owns it as ever."""
    scaled_down(scene, *flags)
    result = scene.apply(web(2), flags=[*flags])
    assert_verified(result)
    assert warned(result, "goes from 0 to 2 replicas: the gate had scaled its first version to 0")
    assert_runs(scene.objects, "shop/web:2")
    assert owners_of_replicas(scene) == [("rollout-gate", "Apply")]


@pytest.mark.contract("B76")
def test_the_gates_own_scale_down_of_no_number_ends_too(scene: Scene) -> None:
    """The manifest names no number: what the server defaults to runs, not nothing."""
    scaled_down(scene, replicas=None)
    assert_verified(scene.apply(without_replicas(2)))
    assert_runs(scene.objects, "shop/web:2", replicas=1)


@pytest.mark.contract("B72", "B76")
def test_a_0_of_somebody_after_the_gates_own_is_respected(scene: Scene) -> None:
    """Whoever scaled it since may have scaled it to 0 again."""
    scaled_down(scene)
    for replicas in (1, 0):
        scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)
    assert_refused(scene.apply(web(2)), "Conflict", "has 0 replicas")


@pytest.mark.contract("B76", "B723")
def test_a_scale_down_beside_a_failure_slanders_nobody(scene: Scene) -> None:
    """Of two first versions one failed: the other was scaled to 0 with it."""
    bad = web(name="worker", behaviour=CRASH)
    result = scene.apply(web(), bad, flags=["--on-first-failure", "scale-to-zero"])
    assert result.exit_code == 6, str(result)
    again = scene.apply(web(), web(2, name="worker"))
    assert_verified(again)
    assert warned(again, "deployment/web goes from 0 to 2 replicas", "to 0 after a failure")
    assert not warned(again, "which failed")


@pytest.mark.contract("B77")
def test_a_failure_returns_to_the_0_replicas_of_before(scene: Scene) -> None:
    """Nobody saw the version work, and nothing served: no older version is started."""
    assert_verified(scene.apply(web()))
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    kept = scene.apply(web(2), flags=["--replicas", "keep"])
    assert_verified(kept, "Vacuous", running="none")
    result = scene.apply(web(3, behaviour=CRASH), flags=["--replicas", "apply"])
    assert "a failure returns to revision 2 (shop/web:2), which runs no pod" in result.stderr
    assert_rolled_back(result, "CrashLoop", running="none")
    assert_runs(scene.objects, "shop/web:2", replicas=0)


@pytest.mark.contract("B1750")
def test_a_failure_just_after_a_scaling_returns_to_what_serves(scene: Scene) -> None:
    """No gate knows the version before; two of its four pods do not serve yet."""
    scene.serve(settings("1"), web(behaviour=SLOW))
    scene.kubectl("scale", "deployment/web", "--replicas=4", check=True)
    scene.objects.wait_for("deployments", "web", _is_unavailable)
    bad = web(2, behaviour=CRASH, replicas=4)
    result = scene.apply(settings("2"), bad)
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=4)
    assert mode(scene) == "1"


@pytest.mark.contract("B1750")
def test_a_failure_just_after_a_scaling_returns_to_what_was_verified(scene: Scene) -> None:
    """What runs is by somebody's hand, and too few of its pods serve to tell how it is."""
    assert_verified(scene.apply(settings("1"), web(replicas=4)))
    scene.change(web(2, behaviour=SLOW, replicas=2))
    scene.objects.wait_complete("web")
    scene.kubectl("scale", "deployment/web", "--replicas=4", check=True)
    scene.objects.wait_for("deployments", "web", _is_unavailable)
    bad = web(3, behaviour=CRASH, replicas=4)
    result = scene.apply(settings("2"), bad, flags=["--force-conflicts"])
    assert_rolled_back(result, "CrashLoop")
    said = "too few pods of what runs are available, so a failure returns to the last verified"
    assert said in result.stderr
    assert_runs(scene.objects, "shop/web:1", replicas=4)
    assert mode(scene) == "1"


def _is_unavailable(web: JSON) -> bool:
    """Tell whether the controller has seen the scaling and waits for pods of it."""
    return condition(web, "Available").get("status") == "False"
