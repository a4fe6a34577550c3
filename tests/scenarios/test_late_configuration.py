"""Configuration that is back later than its workload: what pods keep in their environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified, warned
from tests.bed.interrupting import UNDER_WAY
from tests.bed.policies import Policies
from tests.bed.scene import Scene, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate, PlayedRun
from tests.scenarios.held_configuration import BUDGETS, DOWN, MODES, keep_off
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.pod_replacement import db
from tests.scenarios.proxy import Does, Proxy, counted, kills, says, writes
from tests.scenarios.two_namespaces import placed_in, prod
from tests.scenarios.versions import CRASH, DOCUMENT, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

ENVIRONMENT: Final = [{"configMapRef": {"name": "settings"}}]
LATE: Final = "deployment/web had been returned before configmap/settings: its pods that started"


def reading(body: JSON, environment: Sequence[JSON] = ENVIRONMENT, field: str = "envFrom") -> JSON:
    """Return a workload with `settings`, or other configuration, in its pods' environment."""
    body["spec"]["template"]["spec"]["containers"][0][field] = environment
    return body


def fail_held(proxy: Proxy, *bodies: JSON) -> Result:
    """Fail a version whose way back a webhook keeps from its configuration, to the budget's end."""
    keep_off(proxy, DOWN)
    result = proxy.scene.apply(*bodies, flags=BUDGETS)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    proxy.rest()
    return result


@pytest.mark.contract("B1803")
def test_a_recovery_says_what_pods_keep_of_the_configuration_that_failed(proxy: Proxy) -> None:
    """They are of the version before, and started with what could not go back before them."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    finished = recover(scene, "web")
    assert_rolled_back(finished, "CrashLoop")
    assert mode(scene) == "one"
    assert warned(finished, LATE)


@pytest.mark.contract("B1803")
def test_a_recovery_says_nothing_of_configuration_that_no_pod_keeps(proxy: Proxy) -> None:
    """Nothing has it in its environment; a mounted file changes in time."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    fail_held(proxy, settings("two"), web(2, behaviour=CRASH))
    finished = recover(scene, "web")
    assert_rolled_back(finished, "CrashLoop")
    assert mode(scene) == "one"
    assert not warned(finished, "had been returned before")


@pytest.mark.contract("B1803")
@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
@pytest.mark.parametrize(("key", "times"), [("mode", 1), ("size", 0)])
def test_a_recovery_says_nothing_of_keys_that_are_as_before(
    proxy: Proxy, kind: str, key: str, times: int
) -> None:
    """Pods have the one key in their environment, and the version that failed changed another."""
    scene = proxy.scene
    ref = "configMapKeyRef" if kind == "ConfigMap" else "secretKeyRef"
    field = "data" if kind == "ConfigMap" else "stringData"
    wanted = [{"name": "SET", "valueFrom": {ref: {"name": "settings", "key": key}}}]
    good, bad = (
        {**settings(), "kind": kind, "data": {}, field: {"mode": mode, "size": "1"}}
        for mode in MODES
    )
    assert_verified(scene.apply(good, reading(web(), wanted, "env")))
    proxy.on(counted(writes("/settings"), lambda number: number > 1), says(DOWN))
    result = scene.apply(bad, reading(web(2, behaviour=CRASH), wanted, "env"), flags=BUDGETS)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    proxy.rest()
    finished = recover(scene, "web")
    assert_rolled_back(finished, "CrashLoop")
    assert count_late(finished, "had been returned before") == times


@pytest.mark.contract("B1803")
def test_a_recovery_says_nothing_of_what_has_no_pod(proxy: Proxy) -> None:
    """Somebody has scaled it to 0: the next pods start with what is back by then."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    finished = recover(scene, "web")
    assert_ended(finished, 8, "superseded", "ScaledToZero")
    assert mode(scene) == "one"
    assert not warned(finished, "had been returned before")


@pytest.mark.contract("B1803", "B1826")
def test_a_recovery_says_nothing_of_configuration_of_another_namespace(
    scene: Scene, program: PlayedGate, policies: Policies
) -> None:
    """Pods see that of their own namespace alone, whatever bears its name elsewhere."""
    prod(scene)
    beside = placed_in("prod", settings("one")), web()
    good = placed_in("prod", reading(web(name="api")))
    bad = placed_in("prod", reading(web(2, name="api", behaviour=CRASH)))
    first = program("apply", "-f", scene.manifest(*beside, settings("one"), good))
    assert first.exit_code == 0, str(first)
    path = scene.manifest(*beside, settings("two"), bad)
    with program.start("apply", "-f", path) as running:
        running.wait_for_line("applied +configmap/settings in shop changed")
        with policies.denying("configmaps", "not now"):
            running.wait_for_line("restored +deployment/api in prod", 60.0)
            running.kill()
    finished = program("recover", "api", "-n", "prod", *DOCUMENT)
    assert not warned(finished, "had been returned before")
    assert mode(scene) == "one"


@pytest.mark.contract("B1803")
@pytest.mark.parametrize("line", [UNDER_WAY, "restored +configmap", "restored +deployment"])
def test_a_recovery_in_the_usual_order_says_nothing(
    scene: Scene, program: PlayedGate, line: str
) -> None:
    """Configuration returned first, by the gate that died or by the one that recovers."""
    assert_verified(scene.apply(settings("one"), reading(web())))
    bad = settings("two"), reading(web(2, behaviour=CRASH))
    kill_apply(scene, program, *bad, line=line)
    finished = recover(scene, "web")
    assert finished.exit_code == 4, str(finished)
    assert not warned(finished, "had been returned before")


def count_late(result: Result, words: str = LATE) -> int:
    """Return how often a report warns of configuration that was back later than its workload."""
    return sum(words in one for one in result.document["warnings"])


@pytest.mark.contract("B1815")
@pytest.mark.parametrize("version", [1, 3])
def test_an_apply_that_returns_it_first_says_what_pods_keep(proxy: Proxy, version: int) -> None:
    """Unless it has replaced these pods itself by then."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    result = scene.apply(settings("one"), reading(web(version)))
    assert result.exit_code == 0, str(result)
    assert f"warning     {LATE}" in result.stderr
    assert count_late(result) == (1 if version == 1 else 0)


@pytest.mark.contract("B1815")
@pytest.mark.parametrize("partition", [0, 1])
def test_an_apply_that_leaves_pods_of_before_says_what_they_keep(
    proxy: Proxy, partition: int
) -> None:
    """A canary by partition is complete, and its pods of lower number are as they were."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(db(1))))
    fail_held(proxy, settings("two"), reading(db(2, behaviour=CRASH)))
    result = scene.apply(settings("one"), reading(db(3, partition=partition)))
    assert result.exit_code == 0, str(result)
    said = "statefulset/db had been returned before configmap/settings: its pods that started"
    assert f"warning     {said}" in result.stderr
    assert count_late(result, said) == partition


@pytest.mark.contract("B1815")
def test_an_apply_that_fails_after_it_says_what_pods_keep(proxy: Proxy) -> None:
    """Some of these pods may still run."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    result = scene.apply(settings("two"), reading(web(3, behaviour=CRASH)))
    assert_rolled_back(result, "CrashLoop")
    assert count_late(result) == 1


def kills_once_returned(scene: Scene, gate: PlayedRun) -> Does:
    """Return what kills a gate at its first request that leaves the configuration returned."""

    def does(request: Request, handle: Handle) -> Answer:
        if mode(scene) == "one":
            return kills(gate)(request, handle)
        answer = handle(request)
        if mode(scene) == "one":
            gate.kill()
        return answer

    return does


@pytest.mark.contract("B1815")
@pytest.mark.parametrize("path", ["/configmaps/settings", "/leases/"], ids=["soon", "at the end"])
@pytest.mark.parametrize("then", ["recover", "apply"])
def test_what_pods_keep_outlives_a_recovery_that_dies(proxy: Proxy, path: str, then: str) -> None:
    """It had returned the configuration, and died before it said so."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    with proxy.program.start("recover", "web") as recovering:
        proxy.on(writes(path), kills_once_returned(scene, recovering))
        recovering.wait()
    proxy.rest()
    assert mode(scene) == "one"
    if then == "recover":
        finished = recover(scene, "web")
        assert_rolled_back(finished, "CrashLoop")
        assert not warned(recover(scene, "web"), LATE)
    else:
        finished = scene.apply(settings("one"), reading(web()))
        assert finished.exit_code == 0, str(finished)
    assert count_late(finished) == 1


@pytest.mark.contract("B1815")
def test_what_pods_keep_is_said_once_the_way_back_is_finished(proxy: Proxy) -> None:
    """A recovery that could not return all of it leaves that to the next one."""
    scene, names = proxy.scene, ("alpha", "beta")
    good, bad = ([manifests.config_map(name, {"mode": mode}) for name in names] for mode in MODES)
    refs = [{"configMapRef": {"name": name}} for name in names]
    assert_verified(scene.apply(*good, reading(web(), refs)))
    proxy.on(counted(writes("/configmaps"), lambda number: number > len(names)), says(DOWN))
    result = scene.apply(*bad, reading(web(2, behaviour=CRASH), refs), flags=BUDGETS)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    proxy.rest()
    proxy.on(writes("/beta"), says(DOWN))
    first_try = recover(scene, "web", "--rollback-timeout", "40s")
    assert_ended(first_try, 5, "rollback-failed", "CrashLoop")
    assert count_late(first_try, "had been returned before") == 0
    proxy.rest()
    finished = recover(scene, "web")
    assert_rolled_back(finished, "CrashLoop")
    assert count_late(finished, "returned before configmap/alpha, configmap/beta: ") == 1


@pytest.mark.contract("B1815")
def test_a_recovery_of_several_says_what_pods_of_each_keep(proxy: Proxy) -> None:
    """Its report is about one of them."""
    scene, apps = proxy.scene, ("web", "api")
    for app in apps:
        named = [manifests.config_map(app, {"mode": mode}) for mode in MODES]
        refs = [{"configMapRef": {"name": app}}]
        assert_verified(scene.apply(named[0], reading(web(name=app), refs)))
        fail_held(proxy, named[1], reading(web(2, name=app, behaviour=CRASH), refs))
    finished = proxy.program("recover", "--output", "json")
    assert finished.exit_code == 4, str(finished)
    for app in apps:
        assert count_late(finished, f"{app} had been returned before configmap/{app}: ") == 1
