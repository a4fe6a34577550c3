"""A workload that a dead gate was writing, and that its server writes as `recover` begins."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_runs
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import job
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.killing import recover

pytestmark = pytest.mark.sandbox_only("the server holds a request")

WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
MIGRATE = "/apis/batch/v1/namespaces/shop/jobs/migrate"
SETTINGS = "/api/v1/namespaces/shop/configmaps/settings"
LATE = "a write of which no answer was seen was done late"


class Holding:
    """Kills a gate of which one write has arrived, and does that before the next gate's first."""

    def __init__(self, path: str) -> None:
        """Have no gate yet."""
        self.victim: CheckedRun | None = None
        self.held: Request | None = None
        self.has_landed = False
        self._path = path

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, unless it is the one that is held."""
        is_write = request.method == "PATCH" and not request.read_parameter("dryRun")
        if self.victim is not None and is_write and request.path == self._path:
            self.held = request
            self.victim.kill()
        is_back = self.victim is None and is_write and request.path == SETTINGS
        if is_back and self.held is not None:
            held, self.held = self.held, None
            self.has_landed = handle(held).status in {HTTPStatus.OK, HTTPStatus.CREATED}
        return handle(request)


def recover_late(scene: Scene, holding: Holding, *bodies: JSON) -> Result:
    """Apply objects, kill the gate at the write that is held, and recover."""
    with scene.applying(*bodies) as running:
        holding.victim = running
        running.wait()
        holding.victim = None
    result = recover(scene)
    assert holding.has_landed
    assert result.exit_code == 5, str(result)
    assert "somebody else" not in result.stdout + result.stderr
    return result


def of(result: Result, name: str) -> tuple[str, str, str, str]:
    """Return the action on a workload, its state at the end, its outcome, and what is said."""
    [item] = [one for one in result.document["objects"] if one["name"] == name]
    [ended] = [one for one in result.document["workloads"] if one["name"] == name]
    return item["action"], item["at_end"]["state"], ended["outcome"], ended["message"]


@pytest.mark.contract("B1113")
def test_a_deployment_that_a_dead_gate_changed_late_goes_back_next(tmp_path: Path) -> None:
    """It is not taken for somebody else's change: the end is 5, and `recover` ends it with 4."""
    holding = Holding(WEB)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, holding)
        scene.serve(settings("v1"), web(1))
        result = recover_late(scene, holding, settings("v2"), web(2))
        did = f"{LATE}, and did not go back"
        assert of(result, "web") == ("changed", "written-late", "rollback-failed", did)
        assert "deployment/web was written after all" in result.stderr
        again = recover(scene)
        assert again.exit_code == 4, str(again)
        assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1113")
def test_a_deployment_that_a_dead_gate_created_late_is_named(tmp_path: Path) -> None:
    """The end is 5, and the next `recover` ends as for any first version: it stays."""
    holding = Holding(WEB)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, holding)
        other = web(1, name="other")
        scene.serve(settings("v1"), other)
        result = recover_late(scene, holding, settings("v2"), web(2, name="other"), web(2))
        did = f"{LATE}, and did not go back"
        assert of(result, "web") == ("created", "written-late", "rollback-failed", did)
        assert "deployment/web was written after all" in result.stderr
        again = recover(scene)
        assert again.exit_code == 6, str(again)
        [kept] = [one for one in again.document["objects"] if one["name"] == "web"]
        assert kept["action"] == "kept"


@pytest.mark.contract("B1113")
def test_a_job_that_a_dead_gate_created_late_is_named_and_stays(tmp_path: Path) -> None:
    """The end is 5; nobody says of it that it was not written, nor does the next `recover`."""
    holding = Holding(MIGRATE)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, holding)
        scene.serve(settings("v1"), web(1))
        result = recover_late(scene, holding, settings("v2"), job(), web(2))
        did = f"{LATE}: what it does stays"
        assert of(result, "migrate") == ("created", "written-late", "rollback-failed", did)
        again = recover(scene)
        assert again.exit_code == 4, str(again)
        [ended] = [one for one in again.document["workloads"] if one["name"] == "migrate"]
        assert ended["outcome"] != "refused"
        assert "not written" not in ended["message"]
        assert scene.objects.get("jobs", "migrate")
