"""Fields that others own at the value that an apply brings: a conflict on the way back alone."""

from __future__ import annotations

import shlex

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import CRASHED
from tests.bed.scene import MERGE_PATCH, Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.versions import CRASH, KEEP, history_rows, mode, one_line, report, undo

PATCHER = "kubectl-patch"
AT_AN_EXACT_LINE = pytest.mark.sandbox_only("a way back to pods that still serve ends at once")
IMAGE = 'spec.template.spec.containers[name="web"].image'


def bad_version() -> JSON:
    """Return the version of `leave_half_way` with one variable more."""
    return web(2, behaviour=CRASH, env={"MORE": "x"})


def leave_half_way(scene: Scene, *beside: JSON) -> None:
    """Verify v1, then let somebody patch in v2, which crashes: v1 serves beside its first pod."""
    assert_verified(scene.apply(*beside, web(env={})))
    template = web(2, behaviour=CRASH, env={})["spec"]["template"]
    scene.change_as(PATCHER, {"spec": {"template": template}})
    scene.objects.wait_for("deployments", "web", lambda live: live["status"].get("updatedReplicas"))


def patch_settings(scene: Scene, **data: str) -> None:
    """Let somebody set what the ConfigMap says."""
    path = f"{scene.objects.path('configmaps', 'settings')}?fieldManager={PATCHER}"
    scene.client.json("PATCH", path, {"data": data}, MERGE_PATCH)


@pytest.mark.contract("B1650")
def test_what_somebody_owns_as_well_is_known_to_keep_the_version_from_returning(
    scene: Scene,
) -> None:
    """Neither a way back that conflicts nor one that leaves half of the version is promised."""
    leave_half_way(scene)
    result = scene.apply(bad_version())
    assert_refused(result, "Irreversible", "deployment/web", f"{IMAGE} ({PATCHER})", "annotations")
    assert f"hint: take them over for good: add --take-over {PATCHER}; or" in result.stderr
    preflight = scene.gate("preflight", "-f", scene.manifest(bad_version()))
    assert_refused(preflight, "Irreversible", IMAGE, PATCHER)
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    taken = scene.apply(bad_version(), flags=["--take-over", PATCHER])
    assert_rolled_back(taken, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1650")
def test_what_the_version_before_has_as_well_is_in_nobodys_way(scene: Scene) -> None:
    """Somebody owns the image, and the version that is returned to has the same one."""
    assert_verified(scene.apply(web()))
    scene.kubectl("set", "image", "deployment/web", "web=shop/web:2", check=True)
    scene.objects.wait_complete("web")
    assert_rolled_back(scene.apply(bad_version()), "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B1651", "B70")
def test_a_run_that_forces_takes_back_what_others_own_as_well(scene: Scene) -> None:
    """It says who lost what, and nobody is in the way of the next apply."""
    leave_half_way(scene)
    result = scene.apply(bad_version(), flags=["--force-conflicts"])
    assert_rolled_back(result, "CrashLoop")
    live = assert_runs(scene.objects, "shop/web:1")
    assert "annotations" not in live["spec"]["template"]["metadata"]
    assert warned(result, IMAGE, f"taken from {PATCHER}")
    assert_rolled_back(scene.apply(bad_version()), "CrashLoop")


@pytest.mark.contract("B1651")
@pytest.mark.parametrize(
    "line",
    [
        "applied +deployment/web",
        pytest.param(CRASHED, marks=AT_AN_EXACT_LINE),
        pytest.param("restored +deployment/web", marks=AT_AN_EXACT_LINE),
    ],
)
def test_a_recovery_takes_back_what_a_run_forced(scene: Scene, line: str) -> None:
    """Wherever the gate dies, the version before returns whole."""
    leave_half_way(scene)
    with scene.applying(bad_version(), flags=["--force-conflicts"]) as running:
        running.wait_for_line(line, 120.0)
        running.kill()
    result = recover(scene, "web")
    reason = "CrashLoop" if line.startswith("restored") else "Interrupted"
    assert_ended(result, 4, "rolled-back", reason, running="baseline")
    live = assert_runs(scene.objects, "shop/web:1")
    assert "annotations" not in live["spec"]["template"]["metadata"]


@pytest.mark.sandbox_only("what is said of it is the same on any cluster")
@pytest.mark.contract("B1653")
def test_configuration_that_would_stay_is_named_before_the_first_write(scene: Scene) -> None:
    """It was to return with the version, as it was verified."""
    assert_verified(scene.apply(settings("one"), web()))
    patch_settings(scene, mode="two")
    scene.apply(settings("two"), web(2, behaviour=CRASH), flags=KEEP)
    result = scene.apply(settings("two"), web(3, behaviour=CRASH))
    assert "a failure leaves of configmap/settings what others own: data.mode" in result.stderr
    assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "two"


@pytest.mark.sandbox_only("what is said of it is the same on any cluster")
@pytest.mark.contract("B1652")
@pytest.mark.parametrize("beside", [(), (settings("one"),)])
def test_the_undo_that_is_advised_after_a_refused_way_back_works(
    scene: Scene, beside: tuple[JSON, ...]
) -> None:
    """It takes over what the way back was refused for, whatever else went back."""
    leave_half_way(scene, *beside)
    written = [settings("two") for _ in beside]
    result = scene.apply(*written, bad_version(), flags=["--allow-irreversible"])
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="mixed")
    shown = report(scene, result)
    assert "take over what others own, and go back again" in one_line(shown)
    assert "kubectl describe" not in shown
    [advised] = [line for line in shown.splitlines() if "rollout-gate undo" in line]
    flags = shlex.split(advised.partition("undo web ")[2])
    assert flags[-2:] == ["--take-over", PATCHER]
    assert_verified(undo(scene, *flags))
    assert_runs(scene.objects, "shop/web:1")
    assert history_rows(scene)[0]["verdict"] == "verified"
