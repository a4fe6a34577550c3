"""A signal to a run whose workload somebody has paused: what it leaves does not go on by itself."""

from __future__ import annotations

import signal
from functools import partial

import pytest

from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_ended, assert_verified, images
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import job
from tests.scenarios.test_paused import pause
from tests.scenarios.versions import DOCUMENT, one_line, report

SLOW = web(2, behaviour="ready=20")
KEPT = "if all was written, followed until it is complete or fails"
RECREATED: JSON = {"strategy": {"type": "Recreate"}}
PAUSED = "is paused, and does not go on by itself: ask whoever paused it, then resume it: "


def _interrupt(scene: Scene, running: CheckedRun, *, pauses: bool = True) -> tuple[Result, str]:
    """Pause the Deployment, send a signal, and return the result and what a person reads of it."""
    if pauses:
        pause(scene)
        running.wait_for_line("paused")
    running.send(signal.SIGTERM)
    result = running.wait()
    assert_ended(result, 143, "interrupted", "Interrupted")
    return result, one_line(report(scene, result))


@pytest.mark.contract("B1885")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
@pytest.mark.parametrize("pauses", [True, False])
def test_a_rollout_that_was_paused_does_not_go_on_by_itself(scene: Scene, pauses: bool) -> None:
    """It is resumed, then followed; without the pause it is followed alone."""
    assert_verified(scene.apply(web()))
    with scene.applying(SLOW) as running:
        running.wait_for_line("0 of 2 new pods available, 2 old pods remain")
        result, said = _interrupt(scene, running, pauses=pauses)
    assert result.document["workloads"][0]["paused"] is pauses
    assert ("which goes on by itself" in said) is not pauses
    assert (f"deployment/web {PAUSED}rollout-gate resume web" in said) is pauses
    assert ("then follow it to its end: rollout-gate verify web" in said) is pauses
    assert "then finish what this run left" in said
    if pauses:
        assert_verified(scene.gate("resume", "web", *DOCUMENT))


@pytest.mark.contract("B1908")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
@pytest.mark.parametrize("is_kept", [True, False])
def test_what_crashes_under_a_pause_is_not_resumed_first(scene: Scene, is_kept: bool) -> None:
    """A resumed rollout makes more pods that crash; a signal, or an undo, takes them back."""
    assert_verified(scene.apply(web()))
    crashing, flags = web(2, behaviour="crash=5"), ("--on-interrupt", "keep") if is_kept else ()
    with scene.applying(crashing, flags=flags) as running:
        running.wait_for_line("0 of 2 new pods available, 2 old pods remain")
        pause(scene)
        running.wait_for_line("waiting .*is paused", 90.0)
        result, said = _interrupt(scene, running, pauses=False)
    [waiting] = [line for line in result.stderr.splitlines() if " waiting " in line]
    look = "what there is to return to: rollout-gate history deployment/web"
    back = look if is_kept else "to go back, end this run with Ctrl-C, or cancel its job"
    assert "the Deployment is paused (CrashLoop: " in waiting
    assert 0 < waiting.index(back) < waiting.index("it goes on after kubectl rollout resume")
    if is_kept:
        undo = said.index("to return to what served before: rollout-gate undo web")
        assert undo < said.index("to resume it, once nothing speaks against its version any more")
        assert "then resume it" not in said
    else:
        assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B1885")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
def test_a_way_back_that_was_paused_is_resumed_first(scene: Scene) -> None:
    """A recovery alone would not end the pause."""
    scene.serve(web(behaviour="ready=20", **RECREATED))
    with scene.applying(web(2, behaviour="crash", **RECREATED)) as running:
        running.wait_for_line("restored +deployment/web", 90.0)
        _, said = _interrupt(scene, running)
    back = said.index("finish the rollback, and follow it to its end: rollout-gate recover web")
    assert said.index(f"deployment/web {PAUSED}rollout-gate resume web") < back
    assert "to its end: rollout-gate verify" not in said
    assert_verified(scene.gate("resume", "web", *DOCUMENT))
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B1885")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
def test_of_several_each_pause_is_named(scene: Scene) -> None:
    """The report is about the one that goes on, and is told to follow that."""
    scene.serve(web(), web(name="api"))
    api = web(2, name="api", behaviour="ready=20")
    with scene.applying(api, SLOW) as running:
        running.wait_for_line("web: 0 of 2 new pods available, 2 old pods remain")
        result, said = _interrupt(scene, running)
    paused = {one["name"]: one["paused"] for one in result.document["workloads"]}
    assert paused == {"api": False, "web": True}
    assert f"deployment/web {PAUSED}rollout-gate resume web" in said
    assert "follow the rollout, which goes on by itself: rollout-gate verify api" in said


@pytest.mark.contract("B1885", "B1065")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
def test_a_job_that_was_suspended_is_left_suspended(scene: Scene) -> None:
    """It does not go on without the gate, and was not left waiting to start."""
    suspend = partial(scene.objects.patch, "jobs", "migrate", {"spec": {"suspend": True}})
    with scene.applying(job(behaviour="ready=20")) as running:
        running.wait_for_line("following job/migrate")
        suspend()
        running.wait_for_line("suspended")
        running.send(signal.SIGTERM)
        result = running.wait()
    assert result.exit_code == 143, str(result)
    said = one_line(report(scene, result))
    assert "by SIGTERM; job/migrate was left suspended" in said
    assert f"job/migrate {PAUSED}rollout-gate resume job/migrate" in said
    assert "goes on without the gate" not in said


@pytest.mark.contract("B1886")
@pytest.mark.sandbox_only("what is said is the same on any cluster")
@pytest.mark.parametrize("how", ["complete", "paused", "kept"])
def test_a_dry_run_says_why_a_recovery_would_go_forward(scene: Scene, how: str) -> None:
    """Complete, paused half-way, or not to be taken back: only one of them is true."""
    assert_verified(scene.apply(web()))
    flags = ("--on-failure", "keep") if how == "kept" else ()
    with scene.applying(SLOW, flags=flags) as running:
        running.wait_for_line("1 of 2 new pods available")
        _interrupt(scene, running, pauses=how == "paused")
    if how == "complete":
        scene.objects.wait_complete("web")
    said = scene.gate("apply", "--dry-run", "--resume", "-f", scene.manifest(web(2))).stderr
    reasons = {
        "complete": "as it is complete",
        "paused": "as deployment/web is paused half-way",
        "kept": "as nothing of it is to be taken back",
    }
    assert [why for why, text in reasons.items() if f"finish it forward, {text}" in said] == [
        how
    ], said


@pytest.mark.contract("B2019")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
@pytest.mark.parametrize(
    ("flags", "on_failure", "way"),
    [
        ((), "rollback", "back if incomplete"),
        (("--on-failure", "keep"), "keep", KEPT),
        (("--observe",), "keep", KEPT),
    ],
)
def test_after_a_signal_it_is_said_which_way_a_recovery_goes(
    scene: Scene, flags: tuple[str, ...], on_failure: str, way: str
) -> None:
    """By the answer to a failure that the run had; `locks` says the same by its record."""
    assert_verified(scene.apply(web()))
    with scene.applying(SLOW, flags=flags) as running:
        running.wait_for_line("0 of 2 new pods available, 2 old pods remain")
        result, said = _interrupt(scene, running, pauses=False)
    assert result.document["on_failure"] == on_failure
    assert f"finish what this run left ({way}): rollout-gate recover web" in said
    assert f"to finish it ({way}): rollout-gate recover web" in scene.gate("locks").stdout
