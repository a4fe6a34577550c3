"""What is not as before although somebody wrote it while a way back was kept from it."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import MERGE_PATCH, secret, settings, web
from tests.cluster import manifests
from tests.scenarios.held_configuration import (
    BUDGETS,
    BY_HAND,
    DOWN,
    HAND,
    LOOK_SECONDS,
    WAITING,
    assert_back,
    assert_mended,
    keep_off,
    mend,
    waiting,
)
from tests.scenarios.proxy import Proxy, counted, says, writes
from tests.scenarios.versions import CRASH, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")


def assert_holds(proxy: Proxy) -> None:
    """Expect that the gate looks, and the workload stays at the version that failed."""
    proxy.clock.wait(LOOK_SECONDS)
    assert images(proxy.scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B1816")
def test_what_is_made_again_with_another_value_is_not_back(proxy: Proxy) -> None:
    """Whoever did that owns it, and it is not as it was."""
    scene = proxy.scene
    with waiting(proxy) as running:
        scene.client.json("DELETE", scene.objects.path("configmaps", "settings"))
        scene.apply_as(HAND, settings("three"))
        result = running.wait()
    assert warned(result, "configmap/settings", "kubectl-edit created it again")
    assert "as it was before" not in result.stderr
    assert mode(scene) == "three"


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
        mend(scene, "1", "size")
        assert_holds(proxy)
        mend(scene)
        assert_holds(proxy)
        mend(scene, None, "new")
        result = running.wait()
    assert_mended(result)
    assert_runs(scene.objects, "shop/web:1")
    assert scene.objects.get("configmaps", "settings")["data"] == before


@pytest.mark.contract("B1816")
def test_what_was_created_is_not_back_since_others_took_it(proxy: Proxy) -> None:
    """Before there was none: its deletion gets errors, and somebody applies it for themselves."""
    scene = proxy.scene
    assert_verified(scene.apply(web()))
    proxy.on(writes("/configmaps", method="DELETE"), says(DOWN))
    flags = (*BUDGETS, "--prune-created")
    with scene.applying(settings("two"), web(2, behaviour=CRASH), flags=flags) as running:
        running.wait_for_line("waiting +writing configmap/settings", 60.0)
        scene.apply_as(HAND, settings("three"))
        result = running.wait()
    assert warned(result, "configmap/settings was left alone: kubectl-edit changed data.mode")
    assert "as it was before" not in result.stderr
    assert mode(scene) == "three"


@pytest.mark.contract("B1816", "B27")
def test_a_workload_that_somebody_returns_is_theirs(proxy: Proxy) -> None:
    """Its own write gets errors, and its template is as before: it was taken over all the same."""
    scene = proxy.scene
    assert_verified(scene.apply(web()))
    proxy.on(counted(writes("/deployments"), lambda number: number > 1), says(DOWN))
    with scene.applying(web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line("waiting +writing deployment/web", 60.0)
        scene.apply_as(HAND, web())
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded")


@pytest.mark.contract("B1816")
def test_a_secret_that_is_mended_in_part_still_holds(proxy: Proxy) -> None:
    """A key that the version before had not is still there; its manifest has text."""
    scene = proxy.scene
    assert_verified(scene.apply(secret("good"), web()))
    keys = scene.objects.path("secrets", "keys")
    bad, good = secret("bad"), scene.objects.get("secrets", "keys")["data"]
    bad["stringData"]["new"] = "x"
    proxy.on(counted(writes("/secrets"), lambda number: number > 1), says(DOWN))
    with scene.applying(bad, web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line("waiting +writing secret/keys", 60.0)
        scene.client.json("PATCH", f"{keys}?fieldManager={HAND}", {"data": good}, MERGE_PATCH)
        assert_holds(proxy)
        scene.client.json("PATCH", f"{keys}?fieldManager=x", {"data": {"new": None}}, MERGE_PATCH)
        result = running.wait()
    assert_back(result)
    assert warned(result, f"secret/keys is as it was before: {HAND} wrote that")


@pytest.mark.contract("B1816")
@pytest.mark.parametrize(
    ("size", "label", "left"),
    [
        ("1", None, ""),
        ("1", "x", ".metadata.labels.by"),
        ("9", None, ".data.size"),
        (None, None, ".data.size"),
    ],
    ids=["all", "all and more", "not a value", "not a key"],
)
def test_what_was_left_to_others_is_left_only_while_it_differs(
    proxy: Proxy, size: str | None, label: str | None, left: str
) -> None:
    """Somebody changed a key before the way back, which left it out and got errors."""
    scene, path = proxy.scene, proxy.scene.objects.path("configmaps", "settings")
    good, bad = (
        manifests.config_map("settings", {"mode": mode, "size": size})
        for mode, size in (("one", "1"), ("two", "2"))
    )
    assert_verified(scene.apply(good, web()))
    keep_off(proxy, DOWN)
    with scene.applying(bad, web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line("applied +deployment/web")
        mend(scene, "9", "size")
        running.wait_for_line(WAITING, 60.0)
        patch = {"data": {"mode": "one", "size": size}, "metadata": {"labels": {"by": label}}}
        scene.client.json("PATCH", f"{path}?fieldManager={HAND}", patch, MERGE_PATCH)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, BY_HAND)
    said = [one for one in result.document["warnings"] if "as others have it" in one]
    assert len(said) == bool(left)
    assert not left or f"left {left} of configmap/settings as others have it" in said[0]
    if label:
        assert f"dropped     configmap/settings: left as others have it: {left}\n" in result.stderr


@pytest.mark.contract("B1816", "B145")
def test_what_is_changed_again_after_it_was_mended_is_not_back(proxy: Proxy) -> None:
    """The last look is at what others own as well."""
    scene = proxy.scene
    with waiting(proxy) as running:
        mend(scene)
        running.wait_for_line("restored +deployment/web", 60.0)
        mend(scene, "three")
        result = running.wait()
    assert warned(result, "configmap/settings is not as this run", "kubectl-edit changed data.mode")
