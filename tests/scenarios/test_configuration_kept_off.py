"""Configuration that cannot be written on the way back: for how long its workload waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pytest

from gate.core.ssa.last_applied import LAST_APPLIED
from sandbox.face import Answer
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.policies import Policies
from tests.bed.scene import MERGE_PATCH, Scene, secret, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.proxy import Proxy, counted, first, says, status, writes
from tests.scenarios.two_namespaces import placed_in, prod
from tests.scenarios.versions import CRASH, DOCUMENT, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "90s")
DOWN: Final = status(500, 'Internal error occurred: failed calling webhook "policy.example": EOF')
NO_RIGHT: Final = status(
    403,
    'configmaps "settings-0" is forbidden: User "ci" cannot patch resource "configmaps" in API'
    ' group "" in the namespace "shop"',
)
REFUSALS: Final = {
    "webhook": status(403, 'admission webhook "policy.example" denied the request: not now'),
    "invalid": status(422, 'ConfigMap "settings" is invalid: data: Invalid value'),
}
MODES: Final = ("one", "two")
DENIED: Final = status(409, 'admission webhook "policy.example" denied the request: later')
TRIES: Final = 6
"""How often a write is sent that the server answers so while its object stays as it is."""
UNTRUE: Final = "it changed since it was read"
WAITING: Final = "waiting     writing configmap/settings, deployment/web"
RETURN: Final = "rollout", "undo", "deployment/web", "--to-revision=1"
HELD: Final = (
    "until configmap/settings is back, for another 1m at most, deployment/web stays at the new"
    " version"
)
ENVIRONMENT: Final = [{"configMapRef": {"name": "settings"}}]
LATE: Final = "deployment/web had been returned before configmap/settings: its pods that started"
HAND: Final = "kubectl-edit"
BY_HAND: Final = "configmap/settings is as it was before: kubectl-edit wrote that"
NOT_BACK: Final = ("could not be restored", "not as this run", "as others have it", "left alone")
"""What is said of an object that is not as it was before."""


def reading(body: JSON, environment: Sequence[JSON] = ENVIRONMENT) -> JSON:
    """Return a Deployment with `settings`, or other configuration, in its pods' environment."""
    body["spec"]["template"]["spec"]["containers"][0]["envFrom"] = environment
    return body


def keep_off(proxy: Proxy, answer: Answer) -> None:
    """Answer so to each write of a ConfigMap after that of the way out."""
    proxy.on(counted(writes("/configmaps"), lambda number: number > 1), says(answer))


@contextmanager
def waiting(proxy: Proxy) -> Iterator[CheckedRun]:
    """Fail a version whose configuration gets errors on its way back; the gate waits for that."""
    assert_verified(proxy.scene.apply(settings("one"), web()))
    keep_off(proxy, DOWN)
    bad = settings("two"), web(2, behaviour=CRASH)
    with proxy.scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        yield running


def mend(scene: Scene, value: str | None = "one", key: str = "mode") -> None:
    """Write a value into the configuration by hand, or remove it."""
    path = scene.objects.path("configmaps", "settings")
    scene.client.json("PATCH", f"{path}?fieldManager={HAND}", {"data": {key: value}}, MERGE_PATCH)


def assert_mended(result: Result) -> None:
    """Expect that all is as before, and that the report says who wrote the configuration."""
    assert warned(result, BY_HAND)
    assert_back(result)


def assert_back(result: Result) -> None:
    """Expect that all is as before, and that the report says of nothing that it is not."""
    assert_rolled_back(result, "CrashLoop")
    assert not [words for words in NOT_BACK if warned(result, words)]


def fail_held(proxy: Proxy, *bodies: JSON) -> Result:
    """Fail a version whose way back a webhook keeps from its configuration, to the budget's end."""
    keep_off(proxy, DOWN)
    result = proxy.scene.apply(*bodies, flags=BUDGETS)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    proxy.rest()
    return result


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


@pytest.mark.contract("B1816", "B1802")
def test_configuration_that_somebody_mends_meanwhile_holds_nothing(proxy: Proxy) -> None:
    """The server answers the gate's write with errors to the end; all is as before, as it says."""
    scene = proxy.scene
    with waiting(proxy) as running:
        mend(scene)
        result = running.wait()
    assert_mended(result)
    assert f"restored    {BY_HAND}\n" in result.stderr
    assert result.duration_seconds < 60.0
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B1816")
@pytest.mark.parametrize("how", ["applied", "made again"])
def test_it_does_not_count_how_somebody_mends_it(proxy: Proxy, how: str) -> None:
    """A manifest may have been applied, or the object deleted and created from it."""
    scene, keys = proxy.scene, proxy.scene.objects.path("secrets", "keys")
    assert_verified(scene.apply(secret("good"), web()))
    before = scene.objects.get("secrets", "keys")
    proxy.on(counted(writes("/secrets"), lambda number: number > 1), says(DOWN))
    with scene.applying(secret("bad"), web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line("waiting +writing secret/keys", 60.0)
        if how == "made again":
            scene.client.json("DELETE", keys)
        noted = {"annotations": {LAST_APPLIED: "{}"}, "labels": {"by": "hand"}}
        body = {**secret(), "metadata": {"name": "keys", **noted}, "data": before["data"]}
        del body["stringData"]
        scene.apply_as(HAND, body)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, f"secret/keys is as it was before: {HAND} wrote that")
    assert not warned(result, "could not be restored")
    assert warned(result, ".metadata.labels.by of secret/keys as others have it")
    assert result.duration_seconds < 60.0
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1816")
def test_configuration_that_is_mended_in_part_still_holds(proxy: Proxy) -> None:
    """It is back once all that the way back would write is as it was before."""
    scene = proxy.scene
    before, after = {"mode": "one", "size": "1"}, {"mode": "two", "size": "2", "new": "x"}
    assert_verified(scene.apply(manifests.config_map("settings", before), web()))
    keep_off(proxy, DOWN)
    bad = manifests.config_map("settings", after), web(2, behaviour=CRASH)
    with scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        mend(scene, "three")
        mend(scene, "1", "size")
        running.wait_for_line(WAITING, 60.0)
        mend(scene)
        running.wait_for_line(WAITING, 60.0)
        assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
        mend(scene, None, "new")
        result = running.wait()
    assert_mended(result)
    assert_runs(scene.objects, "shop/web:1")
    assert scene.objects.get("configmaps", "settings")["data"] == before


@pytest.mark.contract("B1816")
def test_configuration_that_is_mended_before_the_way_back_is_as_before(proxy: Proxy) -> None:
    """No error: the gate's write changes no value, and nothing says that it was left."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    rule = counted(writes("/configmaps"), lambda number: number > 1)
    proxy.on(rule, first(lambda: mend(scene)))
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_back(result)
    assert not warned(result, BY_HAND)
    assert "as others have it" not in result.stderr
    assert mode(scene) == "one"


@pytest.mark.contract("B1816")
def test_a_recovery_that_is_held_goes_on_once_somebody_mends(proxy: Proxy) -> None:
    """As the gate that died would have."""
    scene = proxy.scene
    with waiting(proxy) as running:
        running.kill()
    with scene.gate.start("recover", "web", "--output", "json") as recovering:
        recovering.wait_for_line("waiting +writing configmap/settings", 60.0)
        mend(scene)
        result = recovering.wait()
    assert_mended(result)
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1816")
def test_a_recovery_finds_what_somebody_has_mended(proxy: Proxy) -> None:
    """It says who wrote that, as the gate that died would have."""
    scene = proxy.scene
    with waiting(proxy) as running:
        running.kill()
    mend(scene)
    assert_mended(recover(scene, "web"))
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
    assert not warned(recover(scene, "web"), "had been returned before")


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
def test_an_apply_that_fails_after_it_says_what_pods_keep(proxy: Proxy) -> None:
    """Some of these pods may still run."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    result = scene.apply(settings("two"), reading(web(3, behaviour=CRASH)))
    assert_rolled_back(result, "CrashLoop")
    assert count_late(result) == 1


@pytest.mark.contract("B1815")
@pytest.mark.parametrize("line", ["restored +configmap", "progress +deployment"])
@pytest.mark.parametrize("then", ["recover", "apply"])
def test_what_pods_keep_outlives_a_recovery_that_dies(proxy: Proxy, line: str, then: str) -> None:
    """It had returned the configuration, and died before it said so."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), reading(web())))
    fail_held(proxy, settings("two"), reading(web(2, behaviour=CRASH)))
    with scene.gate.start("recover", "web") as recovering:
        recovering.wait_for_line(line, 60.0)
        recovering.kill()
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
