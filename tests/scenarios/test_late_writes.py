"""A write of a gate that died, which its server does only while `recover` takes the rest back."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_runs
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import config_map
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.killing import recover
from tests.scenarios.versions import one_line

pytestmark = pytest.mark.sandbox_only("the server holds a request")

LIMITS = "/api/v1/namespaces/shop/configmaps/limits"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"


class Holding:
    """Kills a gate of which one write has arrived, and does that when the next one confirms."""

    def __init__(self) -> None:
        """Have no gate yet."""
        self.victim: CheckedRun | None = None
        self.held: Request | None = None
        self._is_back = False

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, unless it is the one that is held."""
        is_write = request.method == "PATCH" and not request.read_parameter("dryRun")
        if self.victim is not None and is_write and request.path == LIMITS:
            self.held = request
            self.victim.kill()
        if self._is_back and self.held is not None and request.path == WEB:
            held, self.held = self.held, None
            assert handle(held).status == HTTPStatus.OK
        self._is_back |= self.victim is None and is_write
        return handle(request)


def version(number: int) -> list[JSON]:
    """Return a Deployment and two ConfigMaps before it."""
    return [settings(f"v{number}"), config_map("limits", {"most": f"v{number}"}), web(number)]


def values(scene: Scene) -> list[str]:
    """Return what both ConfigMaps hold."""
    found = [scene.objects.get("configmaps", name)["data"] for name in ("settings", "limits")]
    return [value for data in found for value in data.values()]


@pytest.mark.contract("B1113")
def test_what_a_dead_gate_wrote_late_is_named_and_goes_back_next(tmp_path: Path) -> None:
    """The way back ends with 5 and says so; `recover` once more ends it with 4."""
    holding = Holding()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, holding)
        scene.serve(*version(1))
        with scene.applying(*version(2)) as running:
            holding.victim = running
            running.wait()
            holding.victim = None
        result = recover(scene)
        assert result.exit_code == 5, str(result)
        assert values(scene) == ["v1", "v2"]
        [late] = [item for item in result.document["objects"] if item["name"] == "limits"]
        assert (late["action"], late["at_end"]["state"]) == ("changed", "written-late")
        assert "configmap/limits was written after all" in result.stderr
        document = tmp_path / "result.json"
        document.write_text(result.stdout)
        shown = one_line(scene.gate("report", document).stdout)
        assert "deployment/web runs as before; not all that goes with it was restored" in shown
        assert "rollout-gate recover web" in shown
        again = recover(scene)
        assert again.exit_code == 4, str(again)
        assert values(scene) == ["v1", "v1"]
        assert_runs(scene.objects, "shop/web:1")
