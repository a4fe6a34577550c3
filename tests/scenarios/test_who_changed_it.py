"""Who is said to have changed a workload between the preflight and our write."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_verified, warned
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import settings, template_annotation, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import die_at
from tests.scenarios.proxy import Proxy
from tests.scenarios.test_reloaders import RELOADER, reload, reload_on_changes
from tests.scenarios.versions import CRASH

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")


@pytest.mark.contract("B1764")
@pytest.mark.parametrize("taken", ["a-tool", "z-tool"])
def test_who_changed_it_is_named_and_not_whose_fields_are_taken_over(
    proxy: Proxy, taken: str
) -> None:
    """All of them wrote in the same second; what each owns of the change tells who did it."""
    scene = proxy.scene
    for body in (settings("1"), web(1)):
        scene.apply_as(taken, body)
    scene.objects.wait_complete("web")
    reload_on_changes(proxy, {"spec": web(9)["spec"]})
    result = scene.apply(settings("2"), web(2), flags=["--take-over", taken])
    workload = assert_ended(result, 8, "superseded", "Superseded")
    assert f"(by {RELOADER})" in workload["message"]


@pytest.mark.contract("B1765")
@pytest.mark.parametrize("number", [1, 2], ids=["configuration-alone", "with-a-version"])
def test_what_a_reloader_set_is_no_change_of_ours(proxy: Proxy, number: int) -> None:
    """The fields that the apply changed are listed, and no other."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
    result = scene.apply(settings("2"), web(number))
    assert_verified(result)
    changes = {each["name"]: each["changes"] for each in result.document["objects"]}
    image = "spec.template.spec.containers[name=web].image"
    assert [each["path"] for each in changes["web"]] == [image] * (number - 1)
    assert [each["path"] for each in changes["settings"]] == ["data.mode"]


@pytest.mark.contract("B1764")
def test_whose_bad_sidecar_fails_a_version_is_named(proxy: Proxy) -> None:
    """It fails the version before as well: nothing of the gate's can take it back."""
    bad = _with_proxy("mesh/proxy:2")
    failing = web(1, behaviour=CRASH)["spec"]["template"]["metadata"]
    bad["spec"]["template"]["metadata"] = failing
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload(scene, _with_proxy("mesh/proxy:1"))
    scene.objects.wait_complete("web")
    reload_on_changes(proxy, bad)
    result = scene.apply(settings("2"), web(2))
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert warned(result, "containers[name=", "image", f"was set by {RELOADER}")


@pytest.mark.contract("B1892", "B1764")
@pytest.mark.parametrize("policy", ["rollback", "keep"])
def test_what_somebody_set_is_said_of_no_version_that_did_not_fail(
    proxy: Proxy, policy: str
) -> None:
    """Another one failed: what they set beside this one was no part of that."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1), web(1, name="api")))
    reload_on_changes(proxy)
    bad = web(2, name="api", behaviour=CRASH)
    result = scene.apply(settings("2"), web(2), bad, flags=["--on-failure", policy])
    assert result.document["reason"] == "CrashLoop", str(result)
    assert not warned(result, "was set by")


@pytest.mark.contract("B1892", "B1764")
@pytest.mark.parametrize("is_recovery", [True, False])
def test_when_somebody_set_it_is_said_as_far_as_it_is_known(
    proxy: Proxy, *, is_recovery: bool
) -> None:
    """A recovery has not seen what its dead gate left; here they set it after that."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    apply = [settings("2"), web(2, behaviour=CRASH)]
    if is_recovery:
        die_at(scene, UNDER_WAY, *apply, flags=["--on-failure", "keep"])
        reload(scene, template_annotation("reloader/hash", "abc"))
        result = scene.gate("recover", "web", "--output", "json")
    else:
        reload_on_changes(proxy)
        result = scene.apply(*apply)
    begun, before = "after the attempt had begun", "just before this run wrote what failed"
    assert warned(result, f"was set by {RELOADER}, {begun if is_recovery else before}")


def _with_proxy(image: str) -> JSON:
    container = {"name": "proxy", "image": image}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}
