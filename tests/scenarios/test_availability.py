"""What is complete and loses its availability for good, in the bake window."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_runs
from tests.bed.scene import Scene, web

BAKE = ("--bake", "40s")
BEHAVIOUR = "sandbox.rollout-gate.dev/behaviour"
BAKING = "complete; watching for another"


def pods_of(scene: Scene, image: str) -> list[str]:
    """Return the names of the pods that run an image."""
    pods = scene.objects.list_all("pods")
    of_it = (each for each in pods if each["spec"]["containers"][0]["image"] == image)
    return [each["metadata"]["name"] for each in of_it]


def misbehave(scene: Scene, behaviour: str, count: int) -> None:
    """Let so many pods of the second version do something else from now on."""
    for name in pods_of(scene, "shop/web:2")[:count]:
        scene.objects.patch("pods", name, {"metadata": {"annotations": {BEHAVIOUR: behaviour}}})


@pytest.mark.contract("B54", "B84")
def test_an_outage_of_all_pods_in_the_bake_window_goes_back_soon(scene: Scene) -> None:
    """They run on and are not ready any more: 15 s later, and not after the deadline of 600 s."""
    scene.serve(web())
    second = web(2, behaviour="ready=0.2", progress_deadline_seconds=600)
    with scene.applying(second, flags=BAKE) as running:
        running.wait_for_line(BAKING)
        misbehave(scene, "never-ready", 2)
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "AvailabilityLost")
    assert result.document["message"].startswith("none of the 2 pods that served is ready any more")
    assert result.duration_seconds < 30.0
    assert_runs(scene.objects, "shop/web:1")
