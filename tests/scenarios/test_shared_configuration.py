"""What goes back takes no configuration from a workload that another apply verified with it."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_refused, assert_verified, images, warned
from tests.bed.pods import behave, running_pods
from tests.bed.scene import Scene, settings, web
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, mode, one_line, report


def verify_apart(scene: Scene, latest: str) -> None:
    """Verify api and web with settings of their own, never in one apply, and then a second api."""
    assert_verified(scene.apply(settings("one"), web(name="api")))
    assert_verified(scene.apply(settings("two"), web()))
    assert_verified(scene.apply(settings(latest), web(2, name="api")))


def images_of_api(scene: Scene) -> list[str]:
    """Return the images of the live pod template."""
    return images(scene.objects.get("deployments", "api"))


@pytest.mark.contract("B1480")
def test_an_undo_is_refused_for_what_another_was_verified_with(scene: Scene) -> None:
    """The settings stand as web needs them."""
    verify_apart(scene, "two")
    refused = scene.gate("undo", "api", *DOCUMENT)
    shares = "configmap/settings is as a run on deployment/web left it"
    assert_refused(refused, "SetIncomplete", shares)
    assert (mode(scene), images_of_api(scene)) == ("two", ["shop/api:2"])


@pytest.mark.contract("B1480")
def test_an_undo_leaves_another_what_it_was_verified_with(scene: Scene) -> None:
    """Its own second version had changed the settings beneath web."""
    verify_apart(scene, "three")
    result = scene.gate("undo", "api", *DOCUMENT)
    assert_verified(result)
    assert "configmap/settings goes to what deployment/web was verified with" in result.stderr
    assert (mode(scene), images_of_api(scene)) == ("two", ["shop/api:1"])


@pytest.mark.contract("B1480")
def test_an_undo_says_that_it_could_not_read_who_needs_its_configuration(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """It goes on: what it knows of is its own set."""
    verify_apart(scene, "three")
    writing = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]}
    gate = gate_with_rules([*rules(*READING, "patch"), writing, LEASE_RULES])
    result = gate("undo", "api", *DOCUMENT)
    assert_verified(result)
    unread = "which other workloads need configmap/settings could not all be read"
    assert warned(result, unread, "the right to list Leases in")
    assert mode(scene) == "one"


@pytest.mark.contract("B1481")
@pytest.mark.parametrize(("kept", "goes"), [("two", "stays at what"), ("three", "goes to what")])
def test_a_failure_leaves_another_what_it_was_verified_with(
    scene: Scene, kept: str, goes: str
) -> None:
    """Api returns to its first version, beside other settings than it was verified with."""
    assert_verified(scene.apply(settings("one"), web(name="api")))
    assert_verified(scene.apply(settings("two"), web()))
    bad = scene.apply(settings(kept), web(2, name="api", behaviour=CRASH), flags=KEEP)
    assert_ended(bad, 6, "failed", "CrashLoop")
    result = scene.apply(settings("four"), web(3, name="api", behaviour=CRASH))
    assert_ended(result, 4, "rolled-back", "CrashLoop", running="baseline")
    assert f"configmap/settings {goes} deployment/web was verified with since" in result.stderr
    assert (mode(scene), images_of_api(scene)) == ("two", ["shop/api:1"])
    text = one_line(report(scene, result))
    assert "shop/api:1 serves again, not verified (SetIncomplete)" in text
    assert "configmap/settings is as deployment/web was verified with it since" in text
    assert "by a rollback" not in scene.gate("history", "api").stdout


@pytest.mark.contract("B1600", "B1498")
@pytest.mark.parametrize("latest", ["two", "three"])
def test_a_failed_way_back_leads_to_no_undo_that_another_forbids(scene: Scene, latest: str) -> None:
    """All pods of api crash for good, and its version before had other settings than web needs."""
    verify_apart(scene, latest)
    changed = web(2, name="api", replicas=3)
    flags = ("--bake", "60s", "--rollback-timeout", "40s")
    with scene.applying(settings(latest), changed, flags=flags) as running:
        running.wait_for_line("baking")
        behave(scene, running_pods(scene, "shop/api:2", 3), CRASH)
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    works = latest == "three"
    assert ("rollout-gate undo api" in one_line(report(scene, result))) is works
    undone = scene.gate("undo", "api", *DOCUMENT)
    assert undone.exit_code == (0 if works else 3), str(undone)
