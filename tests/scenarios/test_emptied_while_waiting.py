"""A workload that somebody scales to 0 while a write is still queued: its own, or one behind it."""

from __future__ import annotations

from typing import Final

import pytest

from tests.bed.expectations import assert_runs, assert_verified, images, warned
from tests.bed.interrupting import UNDER_WAY
from tests.bed.jobs import PHASE, job
from tests.bed.pods import wait_until_gone
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.scenarios.held_configuration import BUDGETS, DOWN, keep_off
from tests.scenarios.proxy import Proxy, counted, says, writes
from tests.scenarios.versions import CRASH, mode

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

WAITING: Final = "waiting     writing configmap/settings"
SLOW: Final = "ready=120"


def scale(proxy: Proxy, replicas: int) -> None:
    """Scale `web` as people do."""
    proxy.scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)


def ends(result: Result) -> dict[str, tuple[str, str]]:
    """Return how each workload ended."""
    return {one["name"]: (one["outcome"], one["reason"]) for one in result.document["workloads"]}


@pytest.mark.contract("B1822", "B1681", "B1802")
@pytest.mark.parametrize("back", [0, 2])
def test_what_was_at_0_as_all_turned_back_is_still_written(proxy: Proxy, back: int) -> None:
    """It waits for its configuration, which comes back late, and is judged by what it has then."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    keep_off(proxy, DOWN)
    bad = settings("two"), web(2, behaviour=SLOW), web(2, name="api", behaviour="crash=3")
    with scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(UNDER_WAY)
        scale(proxy, 0)
        running.wait_for_line(WAITING, 60.0)
        if back:
            scale(proxy, back)
        proxy.rest()
        result = running.wait(300.0)
    of_web = ("rolled-back", "SiblingFailed") if back else ("superseded", "ScaledToZero")
    assert ends(result) == {"api": ("rolled-back", "CrashLoop"), "web": of_web}, str(result)
    assert result.exit_code == (4 if back else 8), str(result)
    assert_runs(scene.objects, "shop/web:1", replicas=back)
    assert mode(scene) == "one"


@pytest.mark.contract("B1822", "B1581", "B1802")
@pytest.mark.parametrize("name", ["web", "api"])
def test_what_is_scaled_to_0_while_it_waits_is_still_written(proxy: Proxy, name: str) -> None:
    """Whether it is what failed, or goes back with it."""
    scene, other = proxy.scene, "api" if name == "web" else "web"
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    keep_off(proxy, DOWN)
    failing, slow = web(2, name=name, behaviour=CRASH), web(2, name=other, behaviour=SLOW)
    with scene.applying(settings("two"), failing, slow, flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        scale(proxy, 0)
        proxy.rest()
        result = running.wait(300.0)
    assert result.exit_code == 8, str(result)
    assert ends(result)["web"] == ("superseded", "ScaledToZero"), str(result)
    assert_runs(scene.objects, "shop/web:1", replicas=0)
    assert images(scene.objects.get("deployments", "api")) == ["shop/api:1"]
    assert mode(scene) == "one"


@pytest.mark.contract("B1822", "B1702")
def test_it_goes_back_once_nothing_is_awaited_any_more(proxy: Proxy) -> None:
    """Its configuration gets errors to the end of the budget: the template goes back alone."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    keep_off(proxy, DOWN)
    bad = settings("two"), web(2, behaviour=SLOW), web(2, name="api", behaviour="crash=3")
    with scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(UNDER_WAY)
        scale(proxy, 0)
        result = running.wait(400.0)
    assert warned(result, "configmap/settings could not be restored"), str(result)
    assert ends(result)["web"] == ("superseded", "ScaledToZero"), str(result)
    live = scene.objects.get("deployments", "web")
    assert (images(live), live["spec"]["replicas"]) == (["shop/web:1"], 0)


@pytest.mark.contract("B1822", "B1680")
def test_what_has_replicas_again_before_all_is_written_is_judged(proxy: Proxy) -> None:
    """It went back first; the write of the other gets errors meanwhile, and nothing needs it."""
    scene = proxy.scene
    assert_verified(scene.apply(web(), web(name="api")))
    proxy.on(counted(writes("/deployments/api"), lambda number: number > 1), says(DOWN))
    with scene.applying(web(2, behaviour=CRASH), web(2, name="api", behaviour=SLOW)) as running:
        running.wait_for_line("restored +deployment/web", 60.0)
        scale(proxy, 0)
        wait_until_gone(scene, "web")
        scale(proxy, 2)
        running.wait_for_line("waiting     writing deployment/api", 60.0)
        proxy.rest()
        result = running.wait(300.0)
    assert result.exit_code == 4, str(result)
    assert ends(result)["web"] == ("rolled-back", "CrashLoop"), str(result)
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1823", "B1680")
def test_what_comes_last_does_not_wait_for_what_is_at_0(scene: Scene) -> None:
    """All else is complete: nobody is left to show that it works, and the Job is about that."""
    scene.serve(web(), web(name="api"))
    last = job("smoke", annotations={PHASE: "after"})
    with scene.applying(web(2, behaviour=SLOW), web(2, name="api"), last) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait(60.0)
    assert result.exit_code == 8, str(result)
    assert ends(result)["web"] == ("superseded", "ScaledToZero"), str(result)
    assert scene.objects.find("jobs", "smoke") is None


@pytest.mark.contract("B1823", "B1680")
def test_what_comes_last_is_written_if_it_has_replicas_again(scene: Scene) -> None:
    """The other was not complete yet, so nothing was decided."""
    scene.serve(web(), web(name="api"))
    last = job("smoke", annotations={PHASE: "after"})
    slow = web(2, name="api", behaviour="ready=20")
    with scene.applying(web(2, behaviour="ready=4"), slow, last) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        wait_until_gone(scene, "web")
        scene.kubectl("scale", "deployment/web", "--replicas=2", check=True)
        result = running.wait(300.0)
    assert result.exit_code == 0, str(result)
    assert {outcome for outcome, _ in ends(result).values()} == {"verified"}, str(result)
    assert_runs(scene.objects, "shop/web:2")
