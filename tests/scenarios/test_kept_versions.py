"""The next run over a version whose pods failed, and that was kept: what it has judged of it."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, warned
from tests.bed.pods import behave
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    assert_a_failure_returns_to,
    history_rows,
    verify_versions,
)

pytestmark = pytest.mark.sandbox_only("what is remembered of pods that crash and are ready again")

BAKED = ("--bake", "20s")
UNWATCHED = ("its pods were ready before this run", "history does not call it verified")


def break_pods(scene: Scene, *bodies: JSON) -> None:
    """Apply and keep a version whose pods fail once all of them were ready."""
    with scene.applying(*bodies, flags=("--bake", "300s", *KEEP)) as running:
        running.wait_for_line("baking ")
        behave(scene, scene.objects.list_all("pods", "app=web"), CRASH)
        assert_ended(running.wait(), 6, "failed", "AvailabilityLost", cause="CrashLoop")


def heal_pods(scene: Scene) -> None:
    """Let all pods be ready again, with no new one."""
    behave(scene, scene.objects.list_all("pods", "app=web"), "ready=0")
    scene.objects.wait_complete("web")


def verdict(scene: Scene) -> str:
    """Return what is remembered of the revision that runs."""
    (found,) = (str(one["verdict"]) for one in history_rows(scene) if one["running"])
    return found


def verified(result: Result) -> Result:
    """Return a run that ended well, whatever history says of it."""
    assert (result.exit_code, result.document["outcome"]) == (0, "verified"), str(result)
    return result


@pytest.mark.contract("B1572")
@pytest.mark.parametrize(
    "beside",
    [
        pytest.param([settings("2"), web(2)], id="nothing"),
        pytest.param([settings("3"), web(2)], id="configuration"),
        pytest.param([settings("3"), web(2, minReadySeconds=1)], id="of-itself"),
    ],
)
def test_pods_that_failed_and_are_ready_are_not_judged_by_a_look(
    scene: Scene, beside: list[JSON]
) -> None:
    """It is said before the write and at the end, and the next failure returns to version 1."""
    verify_versions(scene, 1)
    break_pods(scene, settings("2"), web(2))
    heal_pods(scene)
    again = verified(scene.apply(*beside))
    assert warned(again, "(AvailabilityLost)", *UNWATCHED), again.document["warnings"]
    assert UNWATCHED[0] in again.stderr.partition(" passed ")[0]
    assert verdict(scene) == "failed"
    assert_a_failure_returns_to(scene, 1)


@pytest.mark.contract("B1572")
@pytest.mark.parametrize("how", ["baked", "restarted", "came-up", "scaled-up"])
def test_pods_that_a_run_has_watched_verify_what_failed(scene: Scene, how: str) -> None:
    """Through a bake window, or as they start: the next failure returns to version 2."""
    verify_versions(scene, 1)
    break_pods(scene, settings("2"), web(2))
    if how == "came-up":
        with scene.applying(settings("3"), web(2)) as running:
            running.wait_for_line("applied ")
            heal_pods(scene)
            again = running.wait()
    else:
        heal_pods(scene)
        if how == "restarted":
            again = scene.gate("restart", "web", *DOCUMENT)
        else:
            replicas, flags = (4, ()) if how == "scaled-up" else (2, BAKED)
            again = scene.apply(web(2, replicas=replicas), flags=flags)
    assert not warned(verified(again), UNWATCHED[1])
    assert verdict(scene) == "verified"
    assert_rolled_back(scene.apply(web(4, behaviour=CRASH)), "CrashLoop")
    assert_runs(scene.objects, "shop/web:2", replicas=4 if how == "scaled-up" else 2)
