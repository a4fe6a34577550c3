"""A reloader that changes the pod template once the configuration is written, before ours is."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import pytest
from urllib3.exceptions import ProtocolError

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.scene import Scene, settings, template_annotation, web
from tests.cluster.kubelet.api import JSON, STRATEGIC_PATCH
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.killing import recover
from tests.scenarios.versions import CRASH, mode, undo

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

SETTINGS = "/api/v1/namespaces/shop/configmaps/settings"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
RELOADER = "reloader"


class Reloading:
    """Passes requests on; as soon as the ConfigMap has been written it does something.

    That is `act`, each time. The gate `victim` is killed after the n-th request that is no dry run
    and that changes an object of `path`.
    """

    def __init__(self) -> None:
        """Do nothing yet."""
        self.act: Callable[[], object] | None = None
        self.victim: CheckedRun | None = None
        self.path, self.left = "", 0

    def kill_after(self, victim: CheckedRun, path: str, count: int) -> None:
        """Kill a gate after its `count`-th write to an object."""
        self.victim, self.path, self.left = victim, path, count

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on."""
        answer = handle(request)
        if request.method != "PATCH" or request.read_parameter("dryRun"):
            return answer
        if self.act is not None and request.path == SETTINGS:
            assert answer.status == HTTPStatus.OK
            self.act()
        self.left -= request.path == self.path and answer.status == HTTPStatus.OK
        if self.victim is not None and self.left == 0:
            self.victim.kill()
            self.victim = None
        return answer


class LosingAfterReload(Reloading):
    """Loses, too, the first answer of the server to a write of the workload after a reload."""

    has_lost = False

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, unless it is the one."""
        is_write = request.method == "PATCH" and not request.read_parameter("dryRun")
        is_first = self.act is not None and is_write and request.path == WEB and not self.has_lost
        answer = super().__call__(request, handle)
        if is_first:
            self.has_lost = True
            raise ProtocolError("Connection aborted.", ConnectionResetError(104, "reset by peer"))
        return answer


def hashed(value: str) -> JSON:
    """Return the patch that sets a variable to the version of the configuration."""
    own = {"name": "web", "env": [{"name": "HASH", "value": value}]}
    return {"spec": {"template": {"spec": {"containers": [own]}}}}


def reload(scene: Scene, patch: JSON) -> JSON:
    """Change the Deployment as a reloader does, whose variable goes beside those of a container."""
    path = f"{scene.objects.path('deployments', 'web')}?fieldManager={RELOADER}"
    return scene.client.json("PATCH", path, patch, STRATEGIC_PATCH)


@pytest.mark.contract("B1751")
@pytest.mark.parametrize(
    "patch",
    [template_annotation("reloader/hash", "abc"), hashed("abc")],
    ids=["annotation", "variable"],
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
        reloading.act = lambda: reload(scene, hashed("abc"))
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


@pytest.mark.contract("B1752")
@pytest.mark.parametrize("path", [SETTINGS, WEB], ids=["before-its-write", "once-it-is-restored"])
def test_a_recovery_knows_what_a_reloader_set_beside_ours(tmp_path: Path, path: str) -> None:
    """All goes back, and is verified, whether the workload was not written yet or is restored."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        assert_verified(scene.apply(settings("1"), web(1)))
        reloading.act = lambda: reload(scene, hashed(mode(scene)))
        with scene.applying(settings("2"), web(2, behaviour=CRASH)) as running:
            reloading.kill_after(running, path, 1 if path == SETTINGS else 2)
            running.wait()
        reload(scene, hashed("3"))
        result = recover(scene)
        assert (result.exit_code, result.document["outcome"]) == (4, "rolled-back"), str(result)
        live = assert_runs(scene.objects, "shop/web:1")
        assert str(live["spec"]["template"]).count("HASH") == 1
        assert mode(scene) == "1"


@pytest.mark.contract("B1753")
@pytest.mark.parametrize("is_forced", [False, True])
def test_what_a_reloader_sets_makes_no_write_in_doubt_somebody_elses(
    tmp_path: Path, is_forced: bool
) -> None:
    """The answer to our write is lost: it is sent again, also by force."""
    losing = LosingAfterReload()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, losing)
        assert_verified(scene.apply(settings("1"), web(1)))
        losing.act = lambda: reload(scene, hashed("abc"))
        flags = ["--force-conflicts"] if is_forced else []
        assert_verified(scene.apply(settings("2"), web(2), flags=flags))
        assert losing.has_lost
        assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B1754")
def test_an_undo_returns_configuration_whose_pods_a_reloader_restarts(tmp_path: Path) -> None:
    """The template that was applied is the same; that of the reloader stays, and is said to."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        assert_verified(scene.apply(settings("1"), web(1)))
        reloading.act = lambda: reload(scene, hashed(mode(scene)))
        assert_verified(scene.apply(settings("2"), web(1)))
        result = undo(scene)
        assert_verified(result)
        assert warned(result, "deployment/web will differ from revision 1", "(reloader)")
        assert mode(scene) == "1"
        again = undo(scene)
        assert_refused(again, "Conflict", "deployment/web would not change")


@pytest.mark.contract("B1755")
@pytest.mark.parametrize("is_seen", [True, False])
def test_a_failure_just_after_a_reload_returns_to_what_was_verified(
    tmp_path: Path, is_seen: bool
) -> None:
    """With what the reloader set, whether or not its controller has begun to roll that out."""
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, Reloading())
        assert_verified(scene.apply(settings("1"), web(1, behaviour="ready=2")))
        live = reload(scene, hashed("abc"))
        if is_seen:
            scene.objects.wait("replicasets", lambda found: len(found) == 2)
        result = scene.apply(settings("2"), web(2, behaviour=CRASH))
        assert_rolled_back(result, "CrashLoop")
        revision = "revision 2" if is_seen else "a new revision"
        assert f"a failure returns to {revision} (shop/web:1)" in result.stderr
        assert (
            scene.objects.get("deployments", "web")["spec"]["template"] == live["spec"]["template"]
        )
        assert mode(scene) == "1"


@pytest.mark.contract("B1756")
@pytest.mark.parametrize("behaviour", ["", CRASH], ids=["good", "bad"])
def test_what_kubectl_applied_is_taken_over_beside_a_reloader(
    tmp_path: Path, behaviour: str
) -> None:
    """The first apply of the gate, to what others had applied so far."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        scene.kubectl("apply", "-f", str(scene.manifest(settings("1"), web(1))), check=True)
        scene.objects.wait_complete("web")
        reloading.act = lambda: reload(scene, hashed(mode(scene)))
        result = scene.apply(settings("2"), web(2, behaviour=behaviour))
        if behaviour:
            assert_rolled_back(result, "CrashLoop")
        else:
            assert_verified(result)
        live = assert_runs(scene.objects, "shop/web:1" if behaviour else "shop/web:2")
        value = "1" if behaviour else "2"
        own = live["spec"]["template"]["spec"]["containers"][0]["env"]
        assert {"name": "HASH", "value": value} in own
        assert mode(scene) == value


@pytest.mark.contract("B1756", "B906")
def test_a_version_that_the_gate_paused_is_left_beside_a_reloader(tmp_path: Path) -> None:
    """The next apply resumes it, though the reloader acts before it does."""
    reloading = Reloading()
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, reloading)
        assert_verified(scene.apply(settings("1"), web(1)))
        reloading.act = lambda: reload(scene, hashed(mode(scene)))
        paused = scene.apply(
            settings("2"), web(2, behaviour=CRASH), flags=["--on-failure", "pause"]
        )
        assert paused.exit_code == 6, str(paused)
        assert_verified(scene.apply(settings("3"), web(3)))
        assert_runs(scene.objects, "shop/web:3")
        assert mode(scene) == "3"
