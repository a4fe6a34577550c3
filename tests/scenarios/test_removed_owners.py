"""Somebody removes all managed fields in mid-flight, and changes something beside: it returns."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.owners import disown, whole
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover

SLOW_CRASH = "crash=5"
BOTH = (("configmaps", "settings"), ("deployments", "web"))
LABELS = {"metadata": {"labels": {"theirs": "1"}}}


def failing() -> tuple[JSON, JSON]:
    """Return a configuration and a crashing Deployment with fields that only they have."""
    bad = web(2, behaviour=SLOW_CRASH)
    bad["metadata"]["labels"] = {"bad": "1"}
    bad["spec"]["minReadySeconds"] = 2
    return {**settings("one"), "data": {"mode": "two", "more": "2"}}, bad


@pytest.mark.contract("B149", "B52", "B75")
def test_a_scale_beside_removed_owners_stays_and_the_rest_returns(scene: Scene) -> None:
    """The version and its configuration are those of before, with the pods that were asked for."""
    assert_verified(scene.apply(settings("one"), web()))
    found = [whole(scene.objects, *each) for each in BOTH]
    with scene.applying(*failing()) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, "deployments", "web")
        scene.change_as("kubectl", {"spec": {"replicas": 3}}, "scale")
        scene.change_as("kubectl", LABELS)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    live = assert_runs(scene.objects, "shop/web:1", replicas=3)
    assert live["spec"]["template"] == found[1]["spec"]["template"], str(result)
    assert live["metadata"]["labels"] == {"theirs": "1"}, str(result)
    assert "minReadySeconds" not in live["spec"], str(result)
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}


@pytest.mark.contract("B149", "B140")
def test_a_value_beside_removed_owners_stays_and_is_named_of_its_object(scene: Scene) -> None:
    """The configuration's key is theirs; the Deployment beside it left nothing to anybody."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(*failing()) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, "configmaps", "settings")
        scene.objects.patch("configmaps", "settings", {"data": {"mode": "theirs"}})
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "theirs"}
    left = [line for line in result.stderr.splitlines() if " dropped " in line]
    assert left, str(result)
    assert all("configmap/settings: left as " in line for line in left), str(result)


@pytest.mark.contract("B149")
def test_an_apply_of_somebody_else_after_the_owners_went_is_no_obstacle(scene: Scene) -> None:
    """The server has made `before-first-apply` the owner of the rest by then."""
    assert_verified(scene.apply(settings("one"), web()))
    label = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", **LABELS["metadata"]},
    }
    with scene.applying(*failing()) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, "deployments", "web")
        scene.apply_as("labeller", {**label, "spec": {}})
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    live = assert_runs(scene.objects, "shop/web:1")
    assert live["metadata"]["labels"] == {"theirs": "1"}, str(result)
    assert "minReadySeconds" not in live["spec"], str(result)


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B149", "B531")
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_recover_brings_back_a_deployment_whose_owners_were_removed(
    scene: Scene, program: PlayedGate, both: bool, scaled: bool
) -> None:
    """What only the killed version had goes, and one version's pods have its configuration."""
    assert_verified(scene.apply(settings("one"), web()))
    found = [whole(scene.objects, *each) for each in BOTH]
    kill_apply(scene, program, *failing())
    for resource, name in BOTH if both else BOTH[1:]:
        disown(scene.objects, resource, name)
    if scaled:
        scene.change_as("kubectl", {"spec": {"replicas": 3}}, "scale")
    assert_ended(recover(scene, "web"), 4, "rolled-back", "Interrupted", running="baseline")
    assert_runs(scene.objects, "shop/web:1", replicas=3 if scaled else 2)
    if not scaled:
        assert [whole(scene.objects, *each) for each in BOTH] == found
