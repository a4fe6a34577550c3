"""Configuration that somebody returns by hand while a way back is kept from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import pytest

from gate.app.rehearsal.virtual_world import Handle
from gate.core.ssa.last_applied import LAST_APPLIED
from sandbox.face import Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import MERGE_PATCH, Scene, secret, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.held_configuration import BUDGETS, DOWN, WAITING, keep_off, waiting
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, counted, first, says, status, writes
from tests.scenarios.versions import CRASH, apply_and_keep, mode, one_line, report

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

REVISION: Final = "deployment.kubernetes.io/revision"
HAND: Final = "kubectl-edit"
BY_HAND: Final = "configmap/settings is as it was before: kubectl-edit wrote that"
LOOK_SECONDS: Final = 8.0
"""In which a gate that waits has read again what it waits for."""
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


def assert_holds(proxy: Proxy) -> None:
    """Expect that the gate looks, and the workload stays at the version that failed."""
    proxy.clock.wait(LOOK_SECONDS)
    assert images(proxy.scene.objects.get("deployments", "web")) == ["shop/web:2"]


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
        running.wait_for_line("left as others have it: .data.size", 60.0)
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


@pytest.mark.contract("B911", "B1816")
def test_the_next_apply_takes_over_what_somebody_mended(proxy: Proxy) -> None:
    """Without the flag that the report names it is refused: whoever mended it owns it."""
    scene = proxy.scene
    with waiting(proxy) as running:
        mend(scene)
        result = running.wait()
    assert_mended(result)
    assert f"the next apply takes --take-over {HAND}" in report(scene, result)
    proxy.rest()
    good = settings("three"), web(3)
    assert_refused(scene.apply(*good), "Conflict", HAND)
    assert_verified(scene.apply(*good, flags=("--take-over", HAND)))


@pytest.mark.contract("B911")
def test_the_next_apply_takes_over_what_somebody_undid(proxy: Proxy) -> None:
    """The gate was dead by then, and what it had applied is returned: the way back is `recover`."""
    scene = proxy.scene
    with waiting(proxy) as running:
        running.kill()
    proxy.rest()
    sets = scene.objects.list_all("replicasets")
    old = min(sets, key=lambda one: one["metadata"]["annotations"][REVISION])
    template = {**old["spec"]["template"], "metadata": {"annotations": None}}
    scene.change_as("kubectl", {"spec": {"template": template}})
    result = recover(scene, "web")
    assert_back(result)
    said = "deployment/web: others wrote it; the next apply takes --take-over kubectl"
    assert said in report(scene, result)
    good = settings("three"), web(3)
    assert_refused(scene.apply(*good), "Conflict", "kubectl")
    assert_verified(scene.apply(*good, flags=("--take-over", "kubectl")))


@pytest.mark.contract("B911", "B1840")
@pytest.mark.parametrize("dies", [False, True])
def test_the_next_apply_resumes_what_somebody_paused(proxy: Proxy, dies: bool) -> None:
    """Without the flag that the report names it is refused."""
    scene = proxy.scene
    with waiting(proxy) as running:
        if dies:
            running.kill()
        scene.kubectl("rollout", "pause", "deployment/web", check=True)
        proxy.rest()
        result = recover(scene, "web") if dies else running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert result.document["workloads"][0]["paused"]
    said = "deployment/web: ask whoever paused it; the next apply takes --resume"
    assert said in report(scene, result)
    good = settings("three"), web(3)
    assert_refused(scene.apply(*good), "Paused")
    assert_verified(scene.apply(*good, flags=("--resume",)))


@pytest.mark.contract("B1841")
def test_a_way_back_is_verified_so_long_after_its_first_write(proxy: Proxy) -> None:
    """What it waited for before that does not count, or the two times would contradict the end."""
    scene = proxy.scene
    with waiting(proxy) as running:
        proxy.rest()
        result = running.wait()
    assert_back(result)
    back = result.document["rollback"]
    assert back["written_after_seconds"] > 5.0
    after = back["duration_seconds"] - back["written_after_seconds"]
    line = r"rollback +written at \S+, verified after ([0-9.]+)s"
    said = re.search(line, report(scene, result))
    assert said is not None
    assert float(said[1]) == pytest.approx(after, abs=0.1)
    decided_at = next(
        line["at_seconds"] for line in result.document["timeline"] if line["event"] == "rollback"
    )
    written_at = datetime.fromisoformat(back["written_at"])
    since_start = written_at - datetime.fromisoformat(result.document["started_at"])
    wanted = decided_at + back["written_after_seconds"]
    assert since_start.total_seconds() == pytest.approx(wanted, abs=0.1)


@pytest.mark.contract("B911")
def test_the_next_apply_takes_over_what_was_left_to_somebody(proxy: Proxy) -> None:
    """They set another value while the way back was kept off, and the gate left it to them."""
    scene = proxy.scene
    with waiting(proxy) as running:
        mend(scene, "nine")
        proxy.rest()
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, f"configmap/settings was left alone: {HAND} changed data.mode")
    said = f"apply again if yours should win, with --take-over {HAND}"
    assert said in one_line(report(scene, result))
