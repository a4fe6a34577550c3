"""Configuration whose way back is refused for good, and that somebody returns by hand later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from sandbox.face import Answer
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_ended, assert_runs, assert_verified, warned
from tests.bed.scene import settings, web
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON
from tests.scenarios.held_configuration import BUDGETS, BY_HAND, assert_mended, keep_off, mend
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, reads, says, status, waits
from tests.scenarios.test_late_configuration import LATE, fail_held, reading
from tests.scenarios.versions import CRASH, apply_and_keep, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

DENIED: Final = status(403, 'admission webhook "policy.example" denied the request: not now')
ANSWERS: Final = {
    "denied": DENIED,
    "invalid": status(422, 'ConfigMap "settings" is invalid: data: Invalid value'),
}
SLOW: Final = "ready=3"


def having(key: str, body: JSON) -> JSON:
    """Return a workload with one key of the configuration in its pods' environment."""
    named = {"name": "settings", "key": key}
    return reading(body, [{"name": "SET", "valueFrom": {"configMapKeyRef": named}}], "env")


@contextmanager
def refusing(proxy: Proxy, *bodies: JSON, answer: Answer = DENIED) -> Iterator[CheckedRun]:
    """Fail a version whose configuration is refused its way back; its workload still goes back."""
    keep_off(proxy, answer)
    with proxy.scene.applying(*bodies, flags=BUDGETS) as running:
        running.wait_for_line("restored +deployment/web", 60.0)
        yield running


@pytest.mark.contract("B1856", "B1816")
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_what_is_mended_while_the_workload_goes_back_is_back(proxy: Proxy, answer: Answer) -> None:
    """As where the gate's write gets errors: all is as before, and who wrote it is named."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    with refusing(proxy, settings("two"), web(2, behaviour=CRASH), answer=answer) as running:
        mend(scene)
        result = running.wait()
    assert_mended(result)
    assert f"restored    {BY_HAND}\n" in result.stderr
    found = next(one for one in result.document["objects"] if one["kind"] == "ConfigMap")
    assert (found["action"], found["not_restored"]) == ("restored", "")
    assert found["at_end"]["state"] == "as-written"
    assert not warned(result, "had been returned before")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1856")
def test_what_is_mended_in_part_is_not_back(proxy: Proxy) -> None:
    """A key that the way back would have returned is as the version that failed had it."""
    scene = proxy.scene
    good, bad = (
        manifests.config_map("settings", {"mode": mode, "size": size})
        for mode, size in (("one", "1"), ("two", "2"))
    )
    assert_verified(scene.apply(good, web(behaviour=SLOW)))
    with refusing(proxy, bad, web(2, behaviour=CRASH)) as running:
        mend(scene)
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert warned(result, "configmap/settings could not be restored")
    assert not warned(result, "as it was before")


@pytest.mark.contract("B1856", "B1803")
@pytest.mark.parametrize("key", ["mode", "size"])
def test_what_is_mended_late_is_said_to_be_in_pods(proxy: Proxy, key: str) -> None:
    """They started before somebody mended it, with a key that the version that failed changed."""
    scene = proxy.scene
    good, bad = (
        manifests.config_map("settings", {"mode": mode, "size": "1"}) for mode in ("one", "two")
    )
    assert_verified(scene.apply(good, having(key, web(behaviour=SLOW))))
    with refusing(proxy, bad, having(key, web(2, behaviour=CRASH))) as running:
        mend(scene)
        result = running.wait()
    assert_mended(result)
    assert warned(result, LATE) == (key == "mode")


@pytest.mark.contract("B1856")
def test_a_recovery_finds_what_is_mended_after_a_refusal(proxy: Proxy) -> None:
    """Its own write back was refused, and somebody returned the configuration since."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    keep_off(proxy, DENIED)
    with scene.applying(settings("two"), web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line("applied +deployment/web")
        running.kill()
    with scene.gate.start("recover", "web", "--output", "json") as recovering:
        recovering.wait_for_line("restored +deployment/web", 60.0)
        mend(scene)
        result = recovering.wait()
    assert (result.exit_code, result.document["outcome"]) == (4, "rolled-back"), str(result)
    assert warned(result, BY_HAND)
    assert not warned(result, "could not be restored")
    assert recover(scene, "web").exit_code == 0


@pytest.mark.contract("B1856")
def test_what_cannot_be_read_again_stays_refused(proxy: Proxy) -> None:
    """It keeps no way back from its end."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    with refusing(proxy, settings("two"), web(2, behaviour=CRASH)) as running:
        proxy.on(reads("/configmaps/settings"), says(DENIED))
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert result.duration_seconds < 20.0
    assert mode(scene) == "two"


@pytest.mark.contract("B1856")
@pytest.mark.parametrize(("seconds", "code"), [(1.0, 4), (15.0, 5)])
def test_an_answer_to_that_read_is_awaited_for_a_moment(
    proxy: Proxy, seconds: float, code: int
) -> None:
    """What the server takes too long to say is left as it was refused."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    with refusing(proxy, settings("two"), web(2, behaviour=CRASH)) as running:
        mend(scene)
        proxy.on(reads("/configmaps/settings"), waits(proxy.clock, seconds))
        result = running.wait()
    assert result.exit_code == code, str(result)
    assert warned(result, "could not be restored") == (code == 5)
    assert result.duration_seconds < 25.0


@pytest.mark.contract("B1857")
@pytest.mark.parametrize("key", ["mode", "size"])
def test_pods_are_said_to_keep_what_is_refused_its_way_back(proxy: Proxy, key: str) -> None:
    """Whoever mends it after the end has to restart them; nothing else would tell."""
    scene = proxy.scene
    good, bad = (
        manifests.config_map("settings", {"mode": mode, "size": "1"}) for mode in ("one", "two")
    )
    assert_verified(scene.apply(good, having(key, web())))
    keep_off(proxy, DENIED)
    result = scene.apply(bad, having(key, web(2, behaviour=CRASH)))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    said = "deployment/web was returned without configmap/settings: pods that start before"
    assert warned(result, said) == (key == "mode")


@pytest.mark.contract("B1857")
def test_what_a_recovery_will_say_is_not_said_before(proxy: Proxy) -> None:
    """For want of an answer the way back is not finished."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), having("mode", web())))
    result = fail_held(proxy, settings("two"), having("mode", web(2, behaviour=CRASH)))
    assert not warned(result, "was returned without")


@pytest.mark.contract("B1857")
@pytest.mark.parametrize("act", ["set", "mended", "deleted"])
def test_what_others_do_with_the_rest_is_not_said_to_be_the_failed_versions(
    proxy: Proxy, act: str
) -> None:
    """The report says what they did; pods that start then have theirs, or none."""
    scene = proxy.scene
    good, bad = (
        manifests.config_map("settings", {"mode": mode, "size": size})
        for mode, size in (("one", "1"), ("two", "2"))
    )
    assert_verified(scene.apply(good, having("mode", web(behaviour=SLOW))))
    with refusing(proxy, bad, having("mode", web(2, behaviour=CRASH))) as running:
        if act == "deleted":
            scene.objects.delete("configmaps", "settings")
        else:
            mend(scene, "one" if act == "mended" else "three")
        result = running.wait()
    assert result.exit_code == 5, str(result)
    assert not warned(result, "was returned without")


@pytest.mark.contract("B1857", "B1815")
@pytest.mark.parametrize("key", ["mode", "size"])
def test_of_a_set_only_what_its_version_has_otherwise_is_kept(proxy: Proxy, key: str) -> None:
    """A failed version that was kept lies between what served and what failed."""
    scene = proxy.scene
    good, kept, bad = (
        manifests.config_map("settings", {"mode": mode, "size": size})
        for mode, size in (("one", "1"), ("nine", "9"), ("two", "1"))
    )
    assert_verified(scene.apply(good, having(key, web())))
    apply_and_keep(scene, kept, having(key, web(9, behaviour=CRASH)))
    keep_off(proxy, DENIED)
    result = scene.apply(bad, having(key, web(2, behaviour=CRASH)))
    assert result.exit_code == 5, str(result)
    assert warned(result, "was returned without") == (key == "mode")
