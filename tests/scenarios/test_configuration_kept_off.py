"""Configuration that cannot be written on the way back: for how long its workload waits for it."""

from __future__ import annotations

from typing import Final

import pytest

from sandbox.face import Answer
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import settings, web
from tests.cluster import manifests
from tests.scenarios.held_configuration import MODES, WAITING, keep_off, waiting
from tests.scenarios.proxy import Proxy, counted, says, status, writes
from tests.scenarios.versions import CRASH, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

NO_RIGHT: Final = status(
    403,
    'configmaps "settings-0" is forbidden: User "ci" cannot patch resource "configmaps" in API'
    ' group "" in the namespace "shop"',
)
REFUSALS: Final = {
    "webhook": status(403, 'admission webhook "policy.example" denied the request: not now'),
    "invalid": status(422, 'ConfigMap "settings" is invalid: data: Invalid value'),
}
DENIED: Final = status(409, 'admission webhook "policy.example" denied the request: later')
TRIES: Final = 6
"""How often a write is sent that the server answers so while its object stays as it is."""
UNTRUE: Final = "it changed since it was read"
RETURN: Final = "rollout", "undo", "deployment/web", "--to-revision=1"
HELD: Final = (
    "until configmap/settings is back, for another 1m at most, deployment/web stays at the new"
    " version"
)


@pytest.mark.contract("B1801")
@pytest.mark.parametrize("answer", REFUSALS.values(), ids=REFUSALS)
def test_what_the_server_refuses_for_good_holds_nothing(proxy: Proxy, answer: Answer) -> None:
    """The same again would be refused as well: the bad version does not serve on for it."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    keep_off(proxy, answer)
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert result.duration_seconds < 5.0
    assert len(proxy.met) == 1
    assert warned(result, "configmap/settings could not be restored")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "two"


@pytest.mark.contract("B1801")
def test_a_missing_right_is_asked_for_once_for_all_of_a_kind(proxy: Proxy) -> None:
    """Each object in turn would use up the budget of the workload that comes after them."""
    scene, names = proxy.scene, [f"settings-{number}" for number in range(6)]
    good, bad = ([manifests.config_map(name, {"mode": mode}) for name in names] for mode in MODES)
    assert_verified(scene.apply(*good, web()))
    proxy.on(counted(writes("/configmaps"), lambda count: count > len(names)), says(NO_RIGHT))
    flags = ("--timeout", "60s", "--rollback-timeout", "40s")
    result = scene.apply(*bad, web(2, behaviour=CRASH), flags=flags)
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1802")
def test_errors_hold_the_workload_and_the_sign_of_life_says_so(proxy: Proxy) -> None:
    """They pass, and then all of the version before is back, in its order."""
    scene = proxy.scene
    with waiting(proxy) as running:
        assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
        proxy.rest()
        result = running.wait()
    assert f"{WAITING}; {HELD}\n" in result.stderr
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B1802", "B145")
def test_whoever_does_not_wait_is_left_what_they_return(proxy: Proxy) -> None:
    """By hand, the workload alone; what stands beside it is named."""
    scene = proxy.scene
    with waiting(proxy) as running:
        scene.kubectl(*RETURN, check=True)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded")
    assert warned(result, "configmap/settings still has what this run wrote")
    scene.wait_done("deployments", "web")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1804", "B1801")
def test_a_conflict_that_is_none_of_its_version_holds_nothing_for_long(proxy: Proxy) -> None:
    """A webhook answers so: after some tries it is a refusal, and the workload goes back."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    keep_off(proxy, DENIED)
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert result.duration_seconds < 10.0
    assert len(proxy.met) == TRIES
    assert warned(result, "configmap/settings could not be restored", "denied the request: later")
    assert UNTRUE not in result.stderr
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1804")
@pytest.mark.parametrize("exists", [True, False], ids=["changed", "created"])
def test_a_conflict_that_is_none_of_its_version_refuses_the_way_out(
    proxy: Proxy, exists: bool
) -> None:
    """The server answered and did nothing: it is not out of reach, and nothing is unknown."""
    scene = proxy.scene
    if exists:
        assert_verified(scene.apply(settings("one"), web()))
    proxy.on(writes("/configmaps"), says(DENIED))
    result = scene.apply(settings("two"), web(2))
    assert_ended(result, 3, "refused", "Rejected")
    assert len(proxy.met) == TRIES
    assert "denied the request: later" in result.stderr
    assert UNTRUE not in result.stderr
    assert "not known" not in result.stderr


@pytest.mark.contract("B1804")
@pytest.mark.parametrize("code", [409, 422])
@pytest.mark.parametrize("exists", [True, False], ids=["changed", "created"])
def test_such_a_conflict_of_a_workload_ends_as_another_refusal(
    proxy: Proxy, code: int, exists: bool
) -> None:
    """After its configuration was written: that goes back, or there is no version before."""
    scene = proxy.scene
    if exists:
        assert_verified(scene.apply(settings("one"), web()))
    proxy.on(writes("/deployments"), says(status(code, "denied: later")))
    result = scene.apply(settings("two"), web(2))
    if exists:
        assert_rolled_back(result, "ApplyRejected", cause="Rejected")
        assert mode(scene) == "one"
    else:
        assert_ended(result, 6, "failed", "ApplyRejected", cause="Rejected")
    assert "denied: later" in result.stderr
