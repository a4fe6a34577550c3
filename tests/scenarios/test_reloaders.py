"""A reloader that changes the pod template once the configuration is written, before ours is."""

from __future__ import annotations

import pytest

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
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, kills, loses, nth, then, writes
from tests.scenarios.versions import CRASH, mode, undo

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

SETTINGS = "/api/v1/namespaces/shop/configmaps/settings"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
RELOADER = "reloader"


def reload_on_changes(proxy: Proxy, patch: JSON | None = None) -> None:
    """Let a reloader act once the configuration was written: set what that says, unless given."""
    scene = proxy.scene
    proxy.on(writes(SETTINGS), then(lambda: reload(scene, patch or hashed(mode(scene)))))


def hashed(value: str) -> JSON:
    """Return the patch that sets a variable to the version of the configuration."""
    own = {"name": "web", "env": [{"name": "HASH", "value": value}]}
    return {"spec": {"template": {"spec": {"containers": [own]}}}}


def reload(scene: Scene, patch: JSON) -> JSON:
    """Change the Deployment as a reloader does, whose variable goes beside those of a container."""
    path = f"{scene.objects.path('deployments', 'web')}?fieldManager={RELOADER}"
    return scene.client.json("PATCH", path, patch, STRATEGIC_PATCH)


@pytest.mark.contract("B1751")
def test_a_reload_before_our_write_does_not_end_a_good_release(proxy: Proxy) -> None:
    """The annotation that it set stays, and is rolled out with the version that was applied."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy, template_annotation("reloader/hash", "abc"))
    assert_verified(scene.apply(settings("2"), web(2)))
    live = assert_runs(scene.objects, "shop/web:2")
    assert live["spec"]["template"]["metadata"]["annotations"]["reloader/hash"] == "abc"


@pytest.mark.contract("B1751", "B1756")
@pytest.mark.parametrize("behaviour", ["", CRASH], ids=["good", "bad"])
@pytest.mark.parametrize("by", ["gate", "kubectl"])
def test_what_a_reloader_sets_goes_with_the_configuration(
    proxy: Proxy, by: str, behaviour: str
) -> None:
    """Out and back, also where the gate takes over what others had applied so far."""
    scene = proxy.scene
    if by == "kubectl":
        scene.kubectl("apply", "-f", str(scene.manifest(settings("1"), web(1))), check=True)
        scene.objects.wait_complete("web")
    else:
        assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
    result = scene.apply(settings("2"), web(2, behaviour=behaviour))
    if behaviour:
        assert_rolled_back(result, "CrashLoop")
    else:
        assert_verified(result)
    value = "1" if behaviour else "2"
    live = assert_runs(scene.objects, f"shop/web:{value}")
    own = live["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "HASH", "value": value} in own
    assert mode(scene) == value


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
    proxy: Proxy, patch: JSON
) -> None:
    """It is not overwritten, and the configuration goes back."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy, patch)
    ended = assert_ended(scene.apply(settings("2"), web(2)), 8, "superseded", "Superseded")
    assert ended["running"] != "new"
    assert mode(scene) == "1"


@pytest.mark.contract("B1752")
@pytest.mark.parametrize("path", [SETTINGS, WEB], ids=["before-its-write", "once-it-is-restored"])
def test_a_recovery_knows_what_a_reloader_set_beside_ours(proxy: Proxy, path: str) -> None:
    """All goes back, and is verified, whether the workload was not written yet or is restored."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
    with scene.applying(settings("2"), web(2, behaviour=CRASH)) as running:
        number = 1 if path == SETTINGS else 2
        proxy.on(nth(number, writes(path)), kills(running, after=True))
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
    proxy: Proxy, is_forced: bool
) -> None:
    """The answer to our write is lost: it is sent again, also by force."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
    proxy.on(nth(1, writes(WEB)), loses)
    flags = ["--force-conflicts"] if is_forced else []
    assert_verified(scene.apply(settings("2"), web(2), flags=flags))
    assert any(one.path == WEB for one in proxy.met)
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B1754")
def test_an_undo_returns_configuration_whose_pods_a_reloader_restarts(proxy: Proxy) -> None:
    """The template that was applied is the same; that of the reloader stays, and is said to."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
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
    proxy: Proxy, is_seen: bool
) -> None:
    """With what the reloader set, whether or not its controller has begun to roll that out."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1, behaviour="ready=2")))
    live = reload(scene, hashed("abc"))
    if is_seen:
        scene.objects.wait("replicasets", lambda found: len(found) == 2)
    result = scene.apply(settings("2"), web(2, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    revision = "revision 2" if is_seen else "a new revision"
    assert f"a failure returns to {revision} (shop/web:1)" in result.stderr
    assert scene.objects.get("deployments", "web")["spec"]["template"] == live["spec"]["template"]
    assert mode(scene) == "1"


@pytest.mark.contract("B1756", "B906")
def test_a_version_that_the_gate_paused_is_left_beside_a_reloader(proxy: Proxy) -> None:
    """The next apply resumes it, though the reloader acts before it does."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
    paused = scene.apply(settings("2"), web(2, behaviour=CRASH), flags=["--on-failure", "pause"])
    assert paused.exit_code == 6, str(paused)
    assert_verified(scene.apply(settings("3"), web(3)))
    assert_runs(scene.objects, "shop/web:3")
    assert mode(scene) == "3"


@pytest.mark.contract("B1754")
def test_an_undo_passes_over_nothing_that_was_set_by_hand(proxy: Proxy) -> None:
    """The last verified version is the one to return to: an older one would be a step too far."""
    scene = proxy.scene
    for number in (1, 2):
        assert_verified(scene.apply(web(number)))
    reload(scene, hashed("broken"))
    scene.objects.wait_complete("web")
    assert_refused(undo(scene), "Conflict", "deployment/web would not change", "(reloader)")
    assert_runs(scene.objects, "shop/web:2")
