"""Configuration that somebody returns by hand while a way back is kept from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gate.app.rehearsal.virtual_world import Handle
from gate.core.ssa.last_applied import LAST_APPLIED
from sandbox.face import Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import (
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
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
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, counted, first, says, status, writes
from tests.scenarios.versions import CRASH, apply_and_keep, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")


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
@pytest.mark.parametrize("how", ["applied", "made again", "made again as text"])
def test_it_does_not_count_how_somebody_mends_it(proxy: Proxy, how: str) -> None:
    """A manifest may have been applied, or the object deleted and created from it."""
    scene, keys = proxy.scene, proxy.scene.objects.path("secrets", "keys")
    assert_verified(scene.apply(secret("good"), web()))
    before = scene.objects.get("secrets", "keys")
    proxy.on(counted(writes("/secrets"), lambda number: number > 1), says(DOWN))
    with scene.applying(secret("bad"), web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line("waiting +writing secret/keys", 60.0)
        if how != "applied":
            scene.client.json("DELETE", keys)
        noted = {"annotations": {LAST_APPLIED: "{}"}, "labels": {"by": "hand"}}
        body = {**secret("good"), "metadata": {"name": "keys", **noted}}
        if "text" not in how:
            body["data"] = before["data"]
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


@pytest.mark.contract("B1816")
def test_what_is_mended_before_a_refusal_is_back(proxy: Proxy) -> None:
    """The server refuses the gate's write for good, and all is as before."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))

    def refuses(_: Request, handle: Handle) -> Answer:
        del handle
        mend(scene)
        return status(403, 'admission webhook "policy.example" denied the request: not now')

    proxy.on(counted(writes("/configmaps"), lambda number: number > 1), refuses)
    assert_mended(scene.apply(settings("two"), web(2, behaviour=CRASH)))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1816")
def test_only_who_returned_a_value_is_named(proxy: Proxy) -> None:
    """Others own a key that never changed, and add a label."""
    scene, path = proxy.scene, proxy.scene.objects.path("configmaps", "settings")
    assert_verified(scene.apply(settings("one"), web()))
    mend(scene, "1", "size")
    scene.client.json("PATCH", f"{path}?fieldManager=sizer", {"data": {"size": "2"}}, MERGE_PATCH)
    keep_off(proxy, DOWN)
    with scene.applying(settings("two"), web(2, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        label = {"metadata": {"labels": {"by": "x"}}}
        scene.client.json("PATCH", f"{path}?fieldManager=labeller", label, MERGE_PATCH)
        mend(scene)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, BY_HAND)


@pytest.mark.contract("B1816")
def test_nobody_returned_what_the_gate_did(proxy: Proxy) -> None:
    """Somebody else had scaled the workload back, and that is no version of it."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    bad = settings("two"), web(2, replicas=3, behaviour="crash=3")
    with scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=2", check=True)
        result = running.wait()
    assert result.exit_code == 4, str(result)
    assert "as it was before" not in result.stderr


@pytest.mark.contract("B1816", "B700")
def test_what_returns_to_an_older_set_is_back_as_that_has_it(proxy: Proxy) -> None:
    """What was there right before was not verified; a key of it is not in the older set."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    worse, worst = (
        manifests.config_map("settings", {"mode": mode, "new": "x"}) for mode in ("nine", "eight")
    )
    apply_and_keep(scene, worse, web(9, behaviour=CRASH))
    keep_off(proxy, DOWN)
    with scene.applying(worst, web(8, behaviour=CRASH), flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        mend(scene)
        proxy.clock.wait(LOOK_SECONDS)
        assert images(scene.objects.get("deployments", "web")) == ["shop/web:8"]
        mend(scene, None, "new")
        result = running.wait()
    assert warned(result, "configmap/settings is as it was to be: kubectl-edit wrote that")
    assert_back(result)
    assert_runs(scene.objects, "shop/web:1")
