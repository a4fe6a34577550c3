"""A pod template returns although other fields no longer fit beside what others set."""

from __future__ import annotations

import shlex

import pytest

from tests.bed.expectations import assert_ended, assert_runs, assert_verified, warned
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, says, status, writes
from tests.scenarios.test_dead_resumes import leave_failed
from tests.scenarios.versions import DOCUMENT, one_line, report, undo

DENIED = status(403, 'admission webhook "policy.example" denied the request: not now')
PATCHER = "kubectl-patch"
SURGE = ".spec.strategy.rollingUpdate.maxSurge"
DEADLINE = ".spec.progressDeadlineSeconds"


def rolling(surge: int, unavailable: int) -> JSON:
    """Return a strategy as a manifest has it."""
    return {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


CASES: dict[str, tuple[JSON, JSON, JSON, JSON, str, str]] = {
    "counts": (
        {"strategy": rolling(1, 0)},
        {"strategy": rolling(1, 1)},
        {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
        {"strategy": {"type": "RollingUpdate", **rolling(0, 1)}},
        SURGE,
        ".spec.strategy.rollingUpdate.maxUnavailable",
    ),
    "type": (
        {"strategy": {"type": "Recreate"}},
        {"strategy": rolling(1, 1)},
        {"strategy": {"rollingUpdate": {"maxSurge": 2}}},
        {"strategy": {"type": "RollingUpdate", **rolling(2, 1)}},
        SURGE,
        ".spec.strategy.type, .spec.strategy.rollingUpdate.maxUnavailable",
    ),
    "clocks": (
        {"min_ready_seconds": 25, "replicas": 3},
        {"min_ready_seconds": 1, "replicas": 2},
        {"progressDeadlineSeconds": 20},
        {"progressDeadlineSeconds": 20, "minReadySeconds": 1, "replicas": 3},
        DEADLINE,
        ".spec.minReadySeconds",
    ),
}


@pytest.mark.contract("B1930", "B140")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
@pytest.mark.parametrize("case", CASES)
def test_the_pods_return_without_what_does_not_fit_beside_what_others_set(
    scene: Scene, case: str, *, is_dead: bool
) -> None:
    """The server refuses the one beside the other; what serves does not hang on either."""
    before, after, patch, left, theirs, ours = CASES[case]
    assert_verified(scene.apply(web(**before)))
    with scene.applying(web(2, behaviour="crash=3", **after)) as running:
        running.wait_for_line("applied +deployment/web changed")
        if is_dead:
            running.kill()
        scene.change_as(PATCHER, {"spec": patch})
        result = recover(scene, "web") if is_dead else running.wait()
    assert_ended(result, 4, "rolled-back", "Interrupted" if is_dead else "CrashLoop")
    pods = left.get("replicas", 2)
    spec = assert_runs(scene.objects, "shop/web:1", replicas=pods)["spec"]
    assert {name: spec[name] for name in left} == left
    assert warned(result, f"the rollback left {theirs} of deployment/web as others have it")
    assert warned(result, f"the rollback did not return {ours} of deployment/web")


@pytest.mark.sandbox_only("a webhook that denies at a chosen moment is played")
@pytest.mark.contract("B1931", "B1932")
def test_of_a_way_back_that_is_refused_all_the_same_nothing_is_said_to_be_left(
    proxy: Proxy,
) -> None:
    """The next step is the undo that is not refused for what others own."""
    scene, (before, after, patch, *_) = proxy.scene, CASES["counts"]
    assert_verified(scene.apply(web(**before)))
    with scene.applying(web(2, behaviour="crash=3", **after)) as running:
        running.wait_for_line("applied +deployment/web changed")
        scene.change_as(PATCHER, {"spec": patch})
        proxy.on(writes("/deployments/web"), says(DENIED))
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert len(proxy.met) == 2, "whole, then without what does not fit"
    assert not warned(result, "the rollback left")
    assert not warned(result, "the rollback did not return")
    assert "left as others have it" not in result.stderr
    proxy.rest()
    shown = report(scene, result)
    assert "once its cause is gone, take over what others own, and go back again" in one_line(shown)
    [advised] = [line for line in shown.splitlines() if "rollout-gate undo" in line]
    assert_verified(undo(scene, *shlex.split(advised.partition("undo web ")[2])))
    spec = assert_runs(scene.objects, "shop/web:1")["spec"]
    assert spec["strategy"]["rollingUpdate"] == before["strategy"]["rollingUpdate"]


@pytest.mark.sandbox_only("a webhook that denies at a chosen moment is played")
@pytest.mark.contract("B1930")
def test_a_refused_deletion_of_a_first_version_is_a_refusal(proxy: Proxy) -> None:
    """It has no fields of which some could be left; the record says what is to be done."""
    scene = proxy.scene
    flags = ["--on-first-failure", "delete"]
    with scene.applying(web(behaviour="crash=3"), flags=flags) as running:
        running.wait_for_line("applied +deployment/web created")
        proxy.on(lambda one: one.method == "DELETE", says(DENIED))
        result = running.wait()
    assert_ended(result, 6, "failed", "CrashLoop")
    assert warned(result, "deployment/web", "not now")


@pytest.mark.sandbox_only("a webhook that denies at a chosen moment is played")
@pytest.mark.contract("B1930")
def test_a_refused_change_of_owners_is_a_refusal(proxy: Proxy) -> None:
    """So begins the way back of a restart; its own fields are not sent before it."""
    scene = proxy.scene
    leave_failed(scene, "keep")
    with proxy.program.start("restart", "web", *DOCUMENT) as running:
        running.wait_for_line("applied +deployment/web")
        proxy.on(writes("/deployments/web"), says(DENIED))
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
