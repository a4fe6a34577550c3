"""A gate that was killed, and two gates on one Deployment: what was left is finished first."""

from __future__ import annotations

import threading

import pytest

from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.leases import on_another_machine
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import APPLIED, BAD, GOOD, Version, judged
from tests.faults.connections import Held
from tests.faults.request import APPLIES
from tests.faults.script import Rule
from tests.scenarios.killing import JOB

JSON_OUTPUT = ("--output", "json")
REACH_SECONDS = 30.0


def kill_at(scene: Scene, play: Play, nth: int, *bodies: JSON, of_answer: bool) -> None:
    """Apply, and kill the gate while its n-th write of the Deployment, or the answer, is held."""
    held = Held(threading.Event(), threading.Event(), of_answer=of_answer)
    play(Rule(APPLIES, held, first=nth, count=1))
    path = scene.manifest(*bodies)
    with scene.gate.start("apply", "-f", path, *JSON_OUTPUT, env=JOB) as running:
        assert held.reached.wait(REACH_SECONDS), "the request that is to be held never came"
        running.kill()
    play()


def recovered(scene: Scene) -> Result:
    """Run the later step of the same job, and once more: then there is nothing left to do."""
    result = scene.gate("recover", "web", *JSON_OUTPUT, env=JOB)
    assert scene.gate("recover", "web", *JSON_OUTPUT, env=JOB).exit_code == 0
    return result


def assert_next_is_verified(scene: Scene) -> None:
    """Assert that nothing that was left stands in the way of the next version."""
    path = scene.manifest(web(3), settings("three"))
    assert_verified(scene.gate("apply", "-f", path, *JSON_OUTPUT, env=JOB))
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.fault(14)
@pytest.mark.contract("B530", "B540")
@judged
@pytest.mark.parametrize("recovers", [True, False], ids=["recover", "apply"])
def test_killed_after_the_apply(scene: Scene, version: Version, recovers: bool) -> None:
    """What is complete is verified, what is not goes back; an apply alone gets there, too."""
    scene.serve(web())
    path = scene.manifest(version.manifest)
    with scene.gate.start("apply", "-f", path, *JSON_OUTPUT, env=JOB) as running:
        running.wait_for_line(APPLIED)
        running.kill()
    if version.is_good:
        scene.objects.wait_complete("web")
    if recovers:
        result = recovered(scene)
        assert result.exit_code == (0 if version.is_good else 4), str(result)
        assert_runs(scene.objects, "shop/web:2" if version.is_good else "shop/web:1")
    assert_next_is_verified(scene)


@pytest.mark.fault(15)
@pytest.mark.contract("B530", "B532")
@pytest.mark.parametrize("of_answer", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("recovers", [True, False], ids=["recover", "apply"])
def test_killed_at_the_way_back(scene: Scene, play: Play, of_answer: bool, recovers: bool) -> None:
    """Right before the rollback is done, and right after: the baseline runs in the end."""
    scene.serve(web())
    kill_at(scene, play, 2, BAD.manifest, of_answer=of_answer)
    if recovers:
        result = recovered(scene)
        assert result.exit_code == 4, str(result)
        assert_runs(scene.objects, "shop/web:1", revision=3)
    assert_next_is_verified(scene)


@pytest.mark.fault(16)
@pytest.mark.contract("B530", "B531")
@pytest.mark.parametrize("of_answer", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("recovers", [True, False], ids=["recover", "apply"])
def test_killed_between_two_documents(
    scene: Scene, play: Play, of_answer: bool, recovers: bool
) -> None:
    """The ConfigMap is new, the Deployment may be: both are of one version in the end."""
    scene.serve(web(), settings("one"))
    kill_at(scene, play, 1, GOOD.manifest, settings("two"), of_answer=of_answer)
    if recovers:
        result = recovered(scene)
        assert result.exit_code in (0, 4), str(result)
        image, mode = ("shop/web:2", "two") if result.exit_code == 0 else ("shop/web:1", "one")
        assert_runs(scene.objects, image)
        assert scene.objects.get("configmaps", "settings")["data"] == {"mode": mode}
    assert_next_is_verified(scene)


OTHER_JOB = JOB | {"GITHUB_RUN_ID": "8"}


@pytest.mark.fault(34)
@pytest.mark.contract("B520", "B521")
def test_the_second_is_refused_or_waits(scene: Scene) -> None:
    """With little patience it is refused; with more it works when the first has ended."""
    scene.serve(web())
    first = scene.manifest(web(2, behaviour="ready=8"))
    second = scene.manifest(web(3))
    with scene.gate.start("apply", "-f", first, *JSON_OUTPUT, env=JOB) as holding:
        holding.wait_for_line(APPLIED)
        words = ("apply", "-f", second, *JSON_OUTPUT)
        refused = scene.gate(*words, "--lock-wait", "1s", env=OTHER_JOB)
        assert refused.exit_code == 3, str(refused)
        assert refused.document["reason"] == "Locked", str(refused)
        with scene.gate.start(*words, "--lock-wait", "1m", env=OTHER_JOB) as waiting:
            held = holding.wait_for_end(60.0)
            result = waiting.wait()
    assert held == 0
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:3", revision=3)


@pytest.mark.fault(35)
@pytest.mark.contract("B522", "B540")
def test_the_lock_of_a_killed_gate_expires(scene: Scene) -> None:
    """Another pipeline takes over after a minute without a sign of life, and recovers first."""
    scene.serve(web())
    first = scene.manifest(web(2, behaviour="crash=0.1"))
    with scene.gate.start("apply", "-f", first, *JSON_OUTPUT, env=JOB) as running:
        running.wait_for_line(APPLIED)
        running.kill()
    on_another_machine(scene)
    path = scene.manifest(web(3))
    result = scene.gate("apply", "-f", path, "--lock-wait", "100s", *JSON_OUTPUT, env=OTHER_JOB)
    assert_verified(result)
    assert result.duration_seconds > 40
    assert_runs(scene.objects, "shop/web:3")
