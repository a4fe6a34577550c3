"""What others change beside what `restart` and `resume` write, just before that or just after."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified
from tests.bed.scene import OURS, Scene, template_annotation, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, first, kills, nth, then, writes
from tests.scenarios.test_reloaders import WEB, hashed, reload
from tests.scenarios.versions import CRASH, DOCUMENT

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
COMMANDS = ("restart", "resume")
BESIDE = {
    "annotation": template_annotation("hash", "abc"),
    "variable": hashed("abc"),
    "setting": {"spec": {"minReadySeconds": 1}},
}


def prepare(scene: Scene, command: str) -> None:
    """Let a version run, paused where it is to be resumed."""
    assert_verified(scene.apply(web(1)))
    if command == "resume":
        scene.change_as("somebody", {"spec": {"paused": True}})


def read_spec(scene: Scene) -> JSON:
    """Return the spec of the Deployment."""
    spec: JSON = scene.objects.get("deployments", "web")["spec"]
    return spec


@pytest.mark.contract("B1761")
@pytest.mark.parametrize("which", BESIDE)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_changed_beside_it_before_its_write_is_left(
    proxy: Proxy, command: str, which: str
) -> None:
    """It is rolled out with what was there."""
    scene = proxy.scene
    prepare(scene, command)
    proxy.on(nth(1, writes(WEB)), first(lambda: reload(scene, BESIDE[which])))
    assert_verified(scene.gate(command, "web", *DOCUMENT), running="new")
    spec = read_spec(scene)
    assert "abc" in str(spec["template"]) or spec["minReadySeconds"] == 1
    assert not spec.get("paused")
    assert (RESTARTED_AT in str(spec["template"])) == (command == "restart")


@pytest.mark.contract("B1761", "B58")
def test_what_is_added_to_a_restart_in_mid_flight_is_followed(proxy: Proxy) -> None:
    """The version that was there runs, with what was added."""
    scene = proxy.scene
    prepare(scene, "restart")
    with scene.gate.start("restart", "web", *DOCUMENT) as running:
        running.wait_for_line("following replicaset")
        reload(scene, hashed("abc"))
        assert_verified(running.wait())
    assert "abc" in str(read_spec(scene)["template"])


@pytest.mark.contract("B1764")
def test_who_takes_a_restart_over_at_once_is_named(proxy: Proxy) -> None:
    """Times of managed fields are whole seconds: our own write may have the same one."""
    scene = proxy.scene
    prepare(scene, "restart")
    spec = {"spec": web(9)["spec"]}
    proxy.on(nth(1, writes(WEB)), then(lambda: scene.change_as("kubectl-edit", spec)))
    result = scene.gate("restart", "web", *DOCUMENT)
    ended = assert_ended(result, 8, "superseded", "Superseded")
    assert ended["message"].endswith("(by kubectl-edit)")


@pytest.mark.contract("B1761", "B59")
def test_another_version_takes_a_restart_over_in_mid_flight(proxy: Proxy) -> None:
    """What was to be started again does not run any more."""
    scene = proxy.scene
    prepare(scene, "restart")
    with scene.gate.start("restart", "web", *DOCUMENT) as running:
        running.wait_for_line("following replicaset")
        reload(scene, {"spec": web(9)["spec"]})
        assert_ended(running.wait(), 8, "superseded", "Superseded")


@pytest.mark.contract("B1761")
@pytest.mark.parametrize(
    ("command", "patch"),
    [
        ("restart", {"spec": web(9)["spec"]}),
        ("resume", {"spec": web(9)["spec"]}),
        ("restart", {"spec": {"paused": True}}),
        ("restart", template_annotation(RESTARTED_AT, "2026-01-01T00:00:09Z")),
        ("resume", {"spec": {"paused": False, "minReadySeconds": 1}}),
    ],
    ids=["restart-other", "resume-other", "restart-paused", "restart-restarted", "resume-resumed"],
)
def test_what_is_no_more_as_it_was_found_is_refused(
    proxy: Proxy, command: str, patch: JSON
) -> None:
    """It would roll out what nobody has looked at, or has been done by somebody else."""
    scene = proxy.scene
    prepare(scene, command)
    found: list[JSON] = []

    def act() -> None:
        reload(scene, patch)
        found.append(read_spec(scene))

    proxy.on(nth(1, writes(WEB)), first(act))
    result = scene.gate(command, "web", *DOCUMENT)
    assert (result.exit_code, result.document["outcome"]) == (3, "refused"), str(result)
    assert found == [read_spec(scene)]


@pytest.mark.contract("B1761")
def test_a_resumed_version_that_fails_goes_back_beside_what_was_added(proxy: Proxy) -> None:
    """The version before serves again, with the addition and the setting of somebody else."""
    scene = proxy.scene
    prepare(scene, "restart")
    scene.apply_as(OURS, web(2, behaviour=CRASH, paused=True))
    patch = {"spec": {**hashed("abc")["spec"], "progressDeadlineSeconds": 99}}
    proxy.on(nth(1, writes(WEB)), first(lambda: reload(scene, patch)))
    assert_rolled_back(scene.gate("resume", "web", *DOCUMENT), "CrashLoop")
    spec = read_spec(scene)
    assert "shop/web:1" in str(spec["template"])
    assert "abc" in str(spec["template"])
    assert spec["progressDeadlineSeconds"] == 99


def die_restarting(proxy: Proxy, *, is_written: bool) -> None:
    """Restart, and kill the gate before its write is made, or once it is."""
    scene = proxy.scene
    with scene.gate.start("restart", "web", *DOCUMENT) as running:
        proxy.on(nth(1, writes(WEB)), kills(running, after=is_written))
        running.wait()
    assert len(proxy.met) == 1
    proxy.rest()
    assert (RESTARTED_AT in str(read_spec(scene)["template"])) == is_written


@pytest.mark.contract("B1791")
@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize(
    "patch",
    [
        BESIDE["annotation"],
        BESIDE["variable"],
        template_annotation(RESTARTED_AT, "2026-01-01T00:00:09Z"),
        {"spec": web(9)["spec"]},
    ],
    ids=["annotation", "variable", "restarted", "version"],
)
def test_what_others_roll_out_in_place_of_a_dead_restart_is_theirs(
    proxy: Proxy, patch: JSON, *, is_complete: bool
) -> None:
    """It was neither done nor taken back, and nothing of it is written any more."""
    scene = proxy.scene
    prepare(scene, "restart")
    die_restarting(proxy, is_written=False)
    reload(scene, patch)
    assert_left_to_others(scene, is_complete=is_complete)


@pytest.mark.contract("B1791", "B59")
@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize("by", ["reloader", "another-run"])
def test_another_version_after_a_dead_restart_is_theirs(
    proxy: Proxy, by: str, *, is_complete: bool
) -> None:
    """Though what the restart had set is still there."""
    scene = proxy.scene
    prepare(scene, "restart")
    die_restarting(proxy, is_written=True)
    if by == "reloader":
        reload(scene, {"spec": web(9)["spec"]})
    else:
        scene.apply_as(OURS, web(9))
    assert RESTARTED_AT in str(read_spec(scene)["template"])
    assert_left_to_others(scene, is_complete=is_complete)


@pytest.mark.contract("B1791", "B58")
def test_what_is_added_to_a_dead_restart_is_rolled_out_with_it(proxy: Proxy) -> None:
    """All that was there runs again: it was done."""
    scene = proxy.scene
    prepare(scene, "restart")
    die_restarting(proxy, is_written=True)
    reload(scene, BESIDE["variable"])
    scene.objects.wait_complete("web")
    assert_verified(recover(scene))


def assert_left_to_others(scene: Scene, *, is_complete: bool) -> None:
    """Assert that a recovery calls what there is somebody else's, and leaves it as it is."""
    found = read_spec(scene)
    if is_complete:
        scene.objects.wait_complete("web")
    ended = assert_ended(recover(scene), 8, "superseded", "Superseded", running="other")
    assert "somebody else has changed it" in ended["message"]
    assert read_spec(scene) == found
