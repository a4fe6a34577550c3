"""A reloader that changes the pod template once the configuration is written, before ours is."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import Scene, settings, template_annotation, web
from tests.cluster.kubelet.api import JSON, STRATEGIC_PATCH
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.versions import CRASH, mode

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

SETTINGS = "/api/v1/namespaces/shop/configmaps/settings"
RELOADER = "reloader"
HASHED = {
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "web", "env": [{"name": "HASH", "value": "abc"}]}]}
        }
    }
}


class Reloading:
    """Passes requests on; as soon as the ConfigMap has been written it does something, once."""

    def __init__(self) -> None:
        """Do nothing yet."""
        self.act: Callable[[], object] | None = None

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on."""
        answer = handle(request)
        is_write = request.method == "PATCH" and not request.read_parameter("dryRun")
        if self.act is not None and is_write and request.path == SETTINGS:
            assert answer.status == HTTPStatus.OK
            act, self.act = self.act, None
            act()
        return answer


def reload(scene: Scene, patch: JSON) -> JSON:
    """Change the Deployment as a reloader does, whose variable goes beside those of a container."""
    path = f"{scene.objects.path('deployments', 'web')}?fieldManager={RELOADER}"
    return scene.client.json("PATCH", path, patch, STRATEGIC_PATCH)


@pytest.mark.contract("B1751")
@pytest.mark.parametrize(
    "patch", [template_annotation("reloader/hash", "abc"), HASHED], ids=["annotation", "variable"]
)
def test_a_reload_before_our_write_does_not_end_a_good_release(tmp_path: Path, patch: JSON) -> None:
    """What it set stays, and is rolled out with the version that was applied."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        assert_verified(scene.apply(settings("1"), web(1)))
        reloading.act = lambda: reload(scene, patch)
        assert_verified(scene.apply(settings("2"), web(2)))
        live = assert_runs(scene.objects, "shop/web:2")
        assert "abc" in str(live["spec"]["template"])


@pytest.mark.contract("B1751")
def test_a_failure_after_a_reload_returns_with_what_it_set(tmp_path: Path) -> None:
    """The version before serves again, with its configuration."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        assert_verified(scene.apply(settings("1"), web(1)))
        reloading.act = lambda: reload(scene, HASHED)
        assert_rolled_back(scene.apply(settings("2"), web(2, behaviour=CRASH)), "CrashLoop")
        live = assert_runs(scene.objects, "shop/web:1")
        assert "abc" in str(live["spec"]["template"])
        assert mode(scene) == "1"


@pytest.mark.contract("B1751")
@pytest.mark.parametrize(
    "patch",
    [
        {"spec": web(9)["spec"]},
        {"spec": {"paused": True}},
    ],
    ids=["another-version", "a-pause"],
)
def test_what_the_write_sets_or_what_is_no_template_is_somebody_elses(
    tmp_path: Path, patch: JSON
) -> None:
    """It is not overwritten, and the configuration goes back."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        assert_verified(scene.apply(settings("1"), web(1)))
        reloading.act = lambda: reload(scene, patch)
        ended = assert_ended(scene.apply(settings("2"), web(2)), 8, "superseded", "Superseded")
        assert ended["running"] != "new"
        assert mode(scene) == "1"
