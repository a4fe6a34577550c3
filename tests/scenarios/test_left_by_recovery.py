"""What others set in a workload, and `recover` leaves: it is named, as by a run."""

from __future__ import annotations

import shlex

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.policies import Policies
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.versions import CRASH, one_line, report, undo

NEVER_READY = web(2, behaviour="never-ready", progress_deadline_seconds=20)
RECREATE = {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}
LABEL = {"metadata": {"labels": {"team": "shop"}}}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
WITHOUT_MIN_READY = {"spec": {"minReadySeconds": None}}


@pytest.mark.contract("B1872", "B140")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
@pytest.mark.parametrize(
    ("patch", "path"),
    [(RECREATE, ".spec.strategy.type"), (LABEL, ".metadata.labels.team")],
    ids=["strategy", "label"],
)
def test_what_others_set_beside_the_pods_is_named(
    scene: Scene, patch: JSON, path: str, *, is_dead: bool
) -> None:
    """By a recovery as well, which saw the workload after that alone."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), NEVER_READY) as running:
        running.wait_for_line("progress")
        if is_dead:
            running.kill()
        scene.change_as("kubectl-edit", patch)
        result = recover(scene, "web") if is_dead else running.wait()
    assert result.exit_code == 4, str(result)
    assert warned(result, f"the rollback left {path} of deployment/web as others have it")


@pytest.mark.contract("B1915", "B140")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
@pytest.mark.parametrize(
    ("patch", "gone"),
    [
        (RECREATE, (".spec.strategy.rollingUpdate.maxSurge",)),
        (WITHOUT_MIN_READY, (".spec.minReadySeconds",)),
    ],
    ids=["strategy", "min ready"],
)
def test_what_others_removed_beside_the_pods_stays_removed(
    scene: Scene, patch: JSON, gone: tuple[str, ...], *, is_dead: bool
) -> None:
    """By a recovery as well: sent again, a member of a union would be refused with all the rest."""
    good, bad = (
        web(version, strategy=ROLLING, min_ready_seconds=version, **over)
        for version, over in ((1, {}), (2, {"behaviour": CRASH}))
    )
    assert_verified(scene.apply(good))
    with scene.applying(bad) as running:
        running.wait_for_line("progress")
        if is_dead:
            running.kill()
        scene.change_as("kubectl-patch", patch)
        result = recover(scene, "web") if is_dead else running.wait()
    reason = "Interrupted" if is_dead else "CrashLoop"
    assert_ended(result, 4, "rolled-back", reason, running="baseline")
    assert warned(result, *gone, "of deployment/web as others have it")
    spec = scene.objects.get("deployments", "web")["spec"]
    assert spec.get("minReadySeconds") == (None if patch is WITHOUT_MIN_READY else 1)
    assert spec["strategy"] == ({"type": "Recreate"} if patch is RECREATE else ROLLING)


@pytest.mark.sandbox_only("the policies on a control plane deny core objects alone")
@pytest.mark.contract("B1931", "B1932")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
def test_a_way_back_that_is_refused_has_left_nothing_to_others(
    scene: Scene, policies: Policies, *, is_dead: bool
) -> None:
    """The advised undo takes what they own of what it has to set."""
    assert_verified(scene.apply(web(strategy=ROLLING)))
    with scene.applying(web(2, strategy=ROLLING, behaviour=CRASH)) as running:
        running.wait_for_line("progress")
        if is_dead:
            running.kill()
        scene.change_as("kubectl-patch", RECREATE)
        scene.change_as("kubectl-label", LABEL)
        with policies.denying("deployments.apps", "not now"):
            result = recover(scene, "web") if is_dead else running.wait()
    assert result.exit_code == 5, str(result)
    assert not warned(result, "as others have it")
    shown = report(scene, result)
    assert "take over what others own, and go back again" in one_line(shown)
    [advised] = [line for line in shown.splitlines() if "rollout-gate undo" in line]
    flags = shlex.split(advised.partition("undo web ")[2])
    assert flags[-2:] == ["--take-over", "kubectl-patch"]
    assert "kubectl-label" not in flags
    assert_verified(undo(scene, *flags))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1872")
def test_a_recovery_names_nothing_that_nobody_set(scene: Scene) -> None:
    """The server's own defaults and its controllers' notes are none of it."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), NEVER_READY) as running:
        running.wait_for_line("progress")
        running.kill()
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert not warned(result, "as others have it")


@pytest.mark.contract("B1901", "B911")
@pytest.mark.parametrize(
    ("manager", "is_refused"), [("kubectl-set", True), ("kubectl-client-side-apply", False)]
)
def test_the_next_apply_takes_over_what_others_put_back(
    scene: Scene, manager: str, *, is_refused: bool
) -> None:
    """The report names the flag without which it is refused, and none that it does not need."""
    assert_verified(scene.apply(settings("one"), web()))
    template = scene.objects.get("deployments", "web")["spec"]["template"]
    with scene.applying(settings("two"), NEVER_READY) as running:
        running.wait_for_line("progress")
        running.kill()
    scene.change_as(manager, {"spec": {"template": {"spec": template["spec"]}}})
    result = recover(scene, "web")
    assert_ended(result, 8, "superseded", "Superseded")
    (item,) = (one for one in result.document["objects"] if one["kind"] == "Deployment")
    assert (item["at_end"]["state"], item["at_end"]["managers"]) == ("changed", [manager])
    flags = ("--take-over", manager) if is_refused else ()
    text, good = one_line(report(scene, result)), (settings("three"), web(3))
    assert ("--take-over" in text) is is_refused
    assert " ".join(flags) in text
    if is_refused:
        assert_refused(scene.apply(*good), "Conflict", manager)
    assert_verified(scene.apply(*good, flags=flags))
