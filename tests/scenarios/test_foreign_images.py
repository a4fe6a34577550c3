"""A version verified with an image that somebody else had set: our manager applied none itself."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_refused, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import Scene, web
from tests.scenarios.versions import CRASH, KEEP, history_rows, undo

SETTER = "kubectl-set"


@pytest.fixture(autouse=True)
def _verified_with_an_image_of_others(scene: Scene) -> None:
    """Let somebody set the image of v2, and a restart verify it."""
    assert_verified(scene.apply(web()))
    set_image(scene, 2)
    scene.objects.wait_complete("web")
    assert_verified(scene.gate("restart", "web", "--output", "json"))


def set_image(scene: Scene, version: int) -> None:
    """Let somebody set an image by `kubectl set image`."""
    scene.kubectl("set", "image", "deployment/web", f"web=shop/web:{version}", check=True)


@pytest.mark.contract("B1690")
def test_a_failure_returns_to_it(scene: Scene) -> None:
    """Also a later one, after an apply that took the image over and left a failed version."""
    forced = scene.apply(web(3, behaviour=CRASH), flags=["--force-conflicts", *KEEP])
    assert forced.exit_code == 6, str(forced)
    assert_rolled_back(scene.apply(web(4, behaviour=CRASH)), "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B1690")
def test_an_undo_returns_to_it(scene: Scene) -> None:
    """The revision still has the image."""
    assert_verified(scene.apply(web(3), flags=["--force-conflicts"]))
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:2")
    assert history_rows(scene)[0]["verdict"] == "verified"


@pytest.mark.contract("B1690", "B866")
def test_whoever_has_set_another_image_since_is_named(scene: Scene) -> None:
    """The one of the version is a conflict with theirs, which `history` foresees."""
    scene.apply(web(3, behaviour=CRASH), flags=["--force-conflicts", *KEEP])
    set_image(scene, 5)
    marked = [one["undo_conflicts"] for one in history_rows(scene) if one["undo_returns"]]
    assert marked == [[SETTER]]
    assert_refused(undo(scene), "Conflict", "image", SETTER)
    assert_verified(undo(scene, "--take-over", SETTER))
    assert_runs(scene.objects, "shop/web:2")
