"""Configuration that somebody returns by hand while a way back is kept from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from gate.core.ssa.last_applied import LAST_APPLIED
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import (
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import MERGE_PATCH, Scene, secret, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.held_configuration import BUDGETS, DOWN, WAITING, keep_off, waiting
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, counted, first, says, writes
from tests.scenarios.versions import CRASH, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

HAND: Final = "kubectl-edit"
BY_HAND: Final = "configmap/settings is as it was before: kubectl-edit wrote that"
NOT_BACK: Final = ("could not be restored", "not as this run", "as others have it", "left alone")
"""What is said of an object that is not as it was before."""


def mend(
    scene: Scene, value: str | None = "one", key: str = "mode", note: str | None = None
) -> None:
    """Write a value into the configuration by hand, or remove it, with kubectl's annotation."""
    patch: JSON = {"data": {key: value}}
    if note is not None:
        patch["metadata"] = {"annotations": {LAST_APPLIED: note}}
    path = scene.objects.path("configmaps", "settings")
    scene.client.json("PATCH", f"{path}?fieldManager={HAND}", patch, MERGE_PATCH)


def assert_mended(result: Result) -> None:
    """Expect that all is as before, and that the report says who wrote the configuration."""
    assert warned(result, BY_HAND)
    assert_back(result)


def assert_back(result: Result) -> None:
    """Expect that all is as before, and that the report says of nothing that it is not."""
    assert_rolled_back(result, "CrashLoop")
    assert not [words for words in NOT_BACK if warned(result, words)]


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


@contextmanager
def waiting_beside_kubectl(proxy: Proxy) -> Iterator[CheckedRun]:
    """Fail a version of what `kubectl apply` had written first, with its annotation."""
    scene, manifest = proxy.scene, settings("one")
    text = json.dumps(manifest, separators=(",", ":")) + "\n"
    kubectl = "kubectl-client-side-apply"
    noted = {**manifest["metadata"], "annotations": {LAST_APPLIED: text}}
    scene.apply_as(kubectl, {**manifest, "metadata": noted})
    assert_verified(scene.apply(settings("one"), web(), flags=("--take-over", kubectl)))
    keep_off(proxy, DOWN)
    with scene.applying(settings("two"), web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        yield running


@pytest.mark.contract("B1816")
@pytest.mark.parametrize("note", [None, "{}\n"], ids=["value alone", "with annotation"])
def test_what_kubectl_notes_is_no_part_of_what_is_back(proxy: Proxy, note: str | None) -> None:
    """`kubectl edit` leaves the annotation as it finds it, `kubectl apply` writes its own."""
    with waiting_beside_kubectl(proxy) as running:
        mend(proxy.scene, note=note)
        result = running.wait()
    assert_mended(result)
    assert LAST_APPLIED not in result.stderr


@pytest.mark.contract("B1816")
@pytest.mark.parametrize("note", [None, "{}\n"], ids=["value alone", "with annotation"])
def test_what_kubectl_notes_is_nothing_to_a_recovery(proxy: Proxy, note: str | None) -> None:
    """It goes back with a write of the gate, or stays as others wrote it."""
    with waiting_beside_kubectl(proxy) as running:
        running.kill()
    mend(proxy.scene, note=note)
    result = recover(proxy.scene, "web")
    assert_mended(result)
    assert LAST_APPLIED not in result.stderr
    assert not warned(result, LAST_APPLIED)


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
