"""What somebody scales to 0 and back while an attempt goes on with the others."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, web
from tests.cluster.command import Result

SLOW, LONG_SECONDS = "ready=120", 300.0


@pytest.mark.contract("B1681", "B1680")
@pytest.mark.sandbox_only("which of both fails first")
def test_what_has_replicas_again_on_the_way_back_is_verified_there(scene: Scene) -> None:
    """It was at 0 as the way back began, which wrote it: it was never given up."""
    assert_verified(scene.apply(web(), web(name="api")))
    api = web(2, name="api", behaviour="crash=3")
    with scene.applying(web(2, behaviour=SLOW), api) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        running.wait_for_line("restored +deployment/web", LONG_SECONDS)
        scene.kubectl("scale", "deployment/web", "--replicas=2", check=True)
        result = running.wait(LONG_SECONDS)
    assert result.exit_code == 4, str(result)
    assert _ends(result) == {
        "api": ("rolled-back", "CrashLoop"),
        "web": ("rolled-back", "SiblingFailed"),
    }
    assert_runs(scene.objects, "shop/web:1")


def _ends(result: Result) -> dict[str, tuple[str, str]]:
    workloads = result.document["workloads"]
    return {one["name"]: (one["outcome"], one["reason"]) for one in workloads}
