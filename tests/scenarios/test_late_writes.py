"""A write of a gate that died, which its server does only while `recover` takes the rest back."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified, images
from tests.bed.scene import secret, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import config_map
from tests.cluster.workloads import job
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, nth, writes
from tests.scenarios.versions import (
    CRASH,
    apply_and_keep,
    keep_a_bad_version,
    mode,
    one_line,
    report,
)

pytestmark = pytest.mark.sandbox_only("the server holds a request")

LATE = "a write of which no answer was seen was done late"
STAYS_OUT = f"{LATE}, and did not go back"


def hold_and_kill(proxy: Proxy, path: str, *bodies: JSON) -> Request:
    """Apply objects and kill the gate at a write; return its request, which no server has done."""
    held: list[Request] = []
    with proxy.scene.applying(*bodies) as running:

        def hold(request: Request, handle: Handle) -> Answer:
            held.append(request)
            running.kill()
            return handle(request)

        proxy.on(writes(path), hold)
        running.wait()
    proxy.rest()
    return held[0]


def recover_late(proxy: Proxy, path: str, *bodies: JSON) -> Result:
    """Apply objects, kill the gate at a write, which is done as `recover` takes the rest back."""
    held = hold_and_kill(proxy, path, *bodies)

    def land(request: Request, handle: Handle) -> Answer:
        assert handle(held).status in {HTTPStatus.OK, HTTPStatus.CREATED}
        return handle(request)

    proxy.on(nth(1, writes("/configmaps/settings")), land)
    result = recover(proxy.scene)
    assert len(proxy.met) == 2
    assert result.exit_code == 5, str(result)
    assert "somebody else" not in result.stdout + result.stderr
    return result


def of(result: Result, name: str) -> tuple[str, str]:
    """Return the action on an object, and its state at the end."""
    [item] = [one for one in result.document["objects"] if one["name"] == name]
    return item["action"], item["at_end"]["state"]


def ended(result: Result, name: str) -> tuple[str, str]:
    """Return the outcome of a workload, and what is said of it."""
    [found] = [one for one in result.document["workloads"] if one["name"] == name]
    return found["outcome"], found["message"]


@pytest.mark.contract("B1113")
def test_what_a_dead_gate_wrote_late_is_named_and_goes_back_next(proxy: Proxy) -> None:
    """The way back ends with 5 and says so; `recover` once more ends it with 4."""
    scene = proxy.scene

    def version(number: int) -> list[JSON]:
        limits = config_map("limits", {"most": f"v{number}"})
        return [settings(f"v{number}"), limits, web(number)]

    def values() -> list[str]:
        found = [scene.objects.get("configmaps", name)["data"] for name in ("settings", "limits")]
        return [value for data in found for value in data.values()]

    scene.serve(*version(1))
    result = recover_late(proxy, "/configmaps/limits", *version(2))
    assert values() == ["v1", "v2"]
    assert of(result, "limits") == ("changed", "written-late")
    assert "configmap/limits was written after all" in result.stderr
    shown = one_line(report(scene, result))
    assert "deployment/web runs as before; not all that goes with it was restored" in shown
    assert "rollout-gate recover web" in shown
    assert recover(scene).exit_code == 4
    assert values() == ["v1", "v1"]
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1113")
@pytest.mark.parametrize("is_new", [False, True], ids=["changed", "created"])
def test_a_deployment_that_a_dead_gate_wrote_late_is_not_somebody_elses(
    proxy: Proxy, *, is_new: bool
) -> None:
    """The end is 5; the next `recover` returns it, or ends as for any first version: it stays."""
    scene = proxy.scene
    other = web(name="other")
    scene.serve(settings("v1"), other if is_new else web())
    beside = [web(2, name="other")] if is_new else []
    result = recover_late(proxy, "/deployments/web", settings("v2"), *beside, web(2))
    assert of(result, "web") == ("created" if is_new else "changed", "written-late")
    assert ended(result, "web") == ("rollback-failed", STAYS_OUT)
    assert "deployment/web was written after all" in result.stderr
    again = recover(scene)
    assert again.exit_code == (6 if is_new else 4), str(again)
    if is_new:
        assert of(again, "web")[0] == "kept"
    else:
        assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1850")
def test_a_late_version_goes_back_to_what_served_and_not_to_what_was_kept(proxy: Proxy) -> None:
    """The first way back found the kept version unchanged, and left it as it was."""
    scene = proxy.scene
    keep_a_bad_version(scene)
    recover_late(proxy, "/deployments/web", settings("two"), web(2))
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert mode(scene) == "nine"
    again = recover(scene)
    assert again.exit_code == 4, str(again)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one", str(again)


@pytest.mark.contract("B1850", "B701")
def test_a_secret_of_the_kept_version_is_not_called_restored_beside_what_served(
    proxy: Proxy,
) -> None:
    """What was verified of it is not remembered: the way back leaves a mixture, and says that."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), secret("one"), web()))
    apply_and_keep(scene, settings("nine"), secret("nine"), web(9, behaviour=CRASH))
    recover_late(proxy, "/deployments/web", settings("two"), secret("two"), web(2))
    again = recover(scene)
    assert again.exit_code == 5, str(again)
    assert_runs(scene.objects, "shop/web:1")
    [keys] = [one for one in again.document["objects"] if one["kind"] == "Secret"]
    assert keys["not_restored"] == "SetIncomplete"
    assert keys["action"] != "restored"


@pytest.mark.contract("B1851")
def test_what_a_dead_gate_wrote_just_before_the_next_apply_did_goes_back_with_that(
    proxy: Proxy,
) -> None:
    """The same gate's late write is no change of others: a failure takes it back as its own."""
    scene, path = proxy.scene, "/configmaps/settings"
    scene.serve(settings("v1"), web())
    version = (settings("v2"), web(2, behaviour=CRASH))
    held = hold_and_kill(proxy, path, *version)

    def land(request: Request, handle: Handle) -> Answer:
        assert handle(held).status == HTTPStatus.OK
        return handle(request)

    proxy.on(nth(1, writes(path)), land)
    result = scene.apply(*version)
    assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "v1", str(result)
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1113")
def test_a_job_that_a_dead_gate_created_late_is_named_and_stays(proxy: Proxy) -> None:
    """The end is 5; nobody says of it that it was not written, nor does the next `recover`."""
    scene = proxy.scene
    scene.serve(settings("v1"), web())
    result = recover_late(proxy, "/jobs/migrate", settings("v2"), job(), web(2))
    assert of(result, "migrate") == ("created", "written-late")
    assert ended(result, "migrate") == ("rollback-failed", f"{LATE}: what it does stays")
    again = recover(scene)
    assert again.exit_code == 4, str(again)
    outcome, said = ended(again, "migrate")
    assert outcome != "refused"
    assert "not written" not in said
    assert scene.objects.get("jobs", "migrate")
