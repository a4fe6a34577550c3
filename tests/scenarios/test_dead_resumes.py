"""A `resume` whose gate dies, or gets a signal: what finishes it is what its report says."""

from __future__ import annotations

import signal

import pytest

from tests.bed.expectations import assert_ended, assert_verified, images
from tests.bed.interrupting import CRASHED
from tests.bed.jobs import ended, job
from tests.bed.scene import OURS, Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, kills, nth, writes
from tests.scenarios.test_reloaders import WEB
from tests.scenarios.versions import CRASH, DOCUMENT, mode, report, undo

pytestmark = pytest.mark.sandbox_only("a gate dies between two requests")

PATIENCE = ("--progress-deadline", "20s")
BEFORE = ("one", ["shop/web:1"])


def leave_failed(scene: Scene, how: str = "pause") -> None:
    """Let a version be verified, with its configuration, and the next one fail and stay."""
    assert_verified(scene.apply(settings("zero"), web(7)))
    assert_verified(scene.apply(settings("one"), web(1)))
    bad = (settings("two"), web(2, behaviour=CRASH))
    kept = scene.apply(*bad, flags=["--on-failure", how, *PATIENCE])
    assert kept.exit_code == 6, str(kept)


def die(proxy: Proxy, *words: str, is_written: bool = True, path: str = WEB) -> None:
    """Run a command, and kill its gate before its write is made, or once it is."""
    with proxy.scene.gate.start(*words, *DOCUMENT) as running:
        proxy.on(nth(1, writes(path)), kills(running, after=is_written))
        running.wait()
    assert len(proxy.met) == 1
    proxy.rest()


def read_spec(scene: Scene) -> JSON:
    """Return the spec of the Deployment."""
    spec: JSON = scene.objects.get("deployments", "web")["spec"]
    return spec


def served(scene: Scene) -> tuple[str, list[str]]:
    """Return the configuration and the images."""
    return mode(scene), images(scene.objects.get("deployments", "web"))


@pytest.mark.contract("B1923", "B764")
@pytest.mark.parametrize(
    ("dies", "how", "then"),
    [("resume", "pause", "recover"), ("resume", "pause", "undo"), ("restart", "keep", "recover")],
)
def test_it_goes_back_as_a_live_one_would(proxy: Proxy, dies: str, how: str, then: str) -> None:
    """To what was verified last, with its configuration; an undo goes no further."""
    scene = proxy.scene
    leave_failed(scene, how)
    die(proxy, dies, "web")
    for look in ("locks", "history web", "status web"):
        assert "rollout-gate recover web" in scene.gate(*look.split()).stdout
    result = recover(scene, "web") if then == "recover" else undo(scene)
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert served(scene) == BEFORE
    assert "paused" not in read_spec(scene)


@pytest.mark.contract("B1923")
def test_what_is_still_paused_was_not_resumed(proxy: Proxy) -> None:
    """Nothing is left to do, whatever else somebody has set meanwhile."""
    scene = proxy.scene
    leave_failed(scene)
    die(proxy, "resume", "web", is_written=False)
    scene.change_as("somebody", {"spec": {"minReadySeconds": 1}})
    result = proxy.program("recover", "web")
    assert result.exit_code == 0, str(result)
    assert "deployment/web: it is paused, as before;" in result.stderr
    assert (served(scene), read_spec(scene)["paused"]) == (("two", ["shop/web:2"]), True)


@pytest.mark.contract("B1923")
def test_what_is_complete_stays_and_can_be_undone(proxy: Proxy) -> None:
    """A recovery goes forward; what is to be undone is what it found complete."""
    scene = proxy.scene
    assert_verified(scene.apply(web(1)))
    scene.apply_as(OURS, web(2, paused=True))
    die(proxy, "resume", "web")
    scene.objects.wait_complete("web")
    assert_verified(recover(scene, "web"))
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert_verified(undo(scene))
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B1923", "B1791")
@pytest.mark.parametrize("is_written", [True, False])
def test_another_version_since_is_theirs(proxy: Proxy, *, is_written: bool) -> None:
    """Paused or not: nobody looked at it."""
    scene = proxy.scene
    leave_failed(scene)
    die(proxy, "resume", "web", is_written=is_written)
    scene.change_as("somebody", {"spec": {"template": web(9)["spec"]["template"]}})
    found = read_spec(scene)
    assert_ended(recover(scene, "web"), 8, "superseded", "Superseded", running="other")
    assert (read_spec(scene), mode(scene)) == (found, "two")


@pytest.mark.contract("B1923", "B544")
@pytest.mark.parametrize("policy", ["keep", "auto"])
def test_the_advice_after_a_signal_holds(scene: Scene, program: PlayedGate, policy: str) -> None:
    """It is finished by the command that the report names."""
    leave_failed(scene)
    words = ("resume", "web", "--on-interrupt", policy, "--output", "json")
    with program.start(*words) as running:
        running.wait_for_line(CRASHED, 60.0)
        running.send(signal.SIGTERM)
        result = running.wait()
    assert result.exit_code == 143, str(result)
    assert "rollout-gate recover web" in report(scene, result)
    assert (served(scene) == BEFORE) is (policy == "auto")
    assert recover(scene, "web").exit_code == 4
    assert served(scene) == BEFORE


@pytest.mark.contract("B1923")
def test_a_dead_resume_of_a_job_is_followed(proxy: Proxy) -> None:
    """Nothing returns a Job: it comes to its end."""
    scene = proxy.scene
    scene.objects.create("jobs", job(suspend=True))
    die(proxy, "resume", "job/migrate", path="/jobs/migrate")
    assert ended(recover(scene)) == (0, "verified", "Complete")


@pytest.mark.contract("B1923")
def test_configuration_that_it_did_not_write_is_anybodys(proxy: Proxy) -> None:
    """The record keeps it for a way back; where there is none, nothing is said of it."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(1)))
    slow = (settings("two"), web(2, behaviour="ready=45"))
    assert scene.apply(*slow, flags=["--on-failure", "pause", "--timeout", "9s"]).exit_code == 6
    die(proxy, "resume", "web")
    scene.objects.patch("configmaps", "settings", {"data": {"mode": "theirs"}})
    scene.objects.wait_complete("web", 200.0)
    result = recover(scene, "web")
    assert_verified(result)
    assert "settings" not in report(scene, result)


@pytest.mark.contract("B1963")
def test_a_restart_that_wrote_nothing_is_not_rolled_back(proxy: Proxy) -> None:
    """Nothing is left to do, whatever somebody made of the configuration of its way back."""
    scene = proxy.scene
    leave_failed(scene, "keep")
    die(proxy, "restart", "web", is_written=False)
    scene.objects.patch("configmaps", "settings", {"data": {"mode": "theirs"}})
    result = recover(scene, "web")
    assert result.exit_code == 0, str(result)
    assert "all that it was to change is as it was before" in result.stderr
    assert served(scene) == ("theirs", ["shop/web:2"])


@pytest.mark.contract("B1972")
def test_what_somebody_paused_again_is_said_to_be_as_before(proxy: Proxy) -> None:
    """By the headline too: an attempt was unfinished, and nothing is left to do for it."""
    scene = proxy.scene
    leave_failed(scene)
    die(proxy, "resume", "web")
    scene.change_as("somebody", {"spec": {"paused": True}})
    result = proxy.program("recover", "web")
    assert result.exit_code == 0, str(result)
    assert "it is paused, as before; what its pods did meanwhile stays" in result.stderr
    assert "passed      what was unfinished is as it was before" in result.stderr
    assert "no record of an unfinished attempt was found" in proxy.program("recover", "web").stderr


@pytest.mark.contract("B1963", "B1972")
@pytest.mark.parametrize("is_first", [True, False])
def test_the_second_pause_is_its_own(proxy: Proxy, *, is_first: bool) -> None:
    """A version fails again, and the gate dies as it has paused it again; nothing goes back."""
    scene = proxy.scene
    if not is_first:
        assert_verified(scene.apply(web(1)))
    kept = scene.apply(web(2, behaviour=CRASH), flags=["--on-failure", "pause", *PATIENCE])
    assert kept.exit_code == 6, str(kept)
    with scene.gate.start("resume", "web", "--on-failure", "pause", *DOCUMENT) as running:
        proxy.on(nth(2, writes(WEB)), kills(running, after=True))
        running.wait()
    proxy.rest()
    for look in ("locks", "history web", "status web"):
        assert "to finish it (it stays, paused): " in scene.gate(*look.split()).stdout
    result = recover(scene, "web")
    assert_ended(result, 6, "failed", "CrashLoop", running="new" if is_first else "mixed")
    assert "left of deployment/web: what failed stays, paused" in result.stderr
    assert "had not changed it" not in report(scene, result)
    assert read_spec(scene)["paused"]
