"""A webhook that is down answers writes with an error, while reads and locks work."""

from __future__ import annotations

import signal
from datetime import datetime
from itertools import pairwise
from typing import Final

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, counted, says, status, writes
from tests.scenarios.versions import CRASH, mode, one_line, report

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "30s")
WORDS: Final = 'failed calling webhook "policy.example": connect: connection refused'
ERROR: Final = status(500, f"Internal error occurred: {WORDS}")
SAID: Final = "the server answered with 500 Internal Server Error: Internal error occurred: failed"
LOST: Final = "answer was lost"
BAD: Final = web(2, behaviour=CRASH)


@pytest.fixture
def scene(proxy: Proxy) -> Scene:
    """Return the scene of a first version that serves, behind the webhook."""
    assert_verified(proxy.scene.apply(settings("one"), web()))
    return proxy.scene


def fail(
    proxy: Proxy, *kinds: str, passes: int = 0, most: int = 10_000, method: str = "PATCH"
) -> None:
    """Fail writes of these kinds after the next so many, so often at most."""
    meets = writes(*(f"/{kind}" for kind in kinds), method=method)
    proxy.on(counted(meets, lambda number: passes < number <= passes + most), says(ERROR))


@pytest.mark.contract("B160", "B785", "B1701", "B1702")
def test_a_way_back_that_a_webhook_keeps_off_was_not_written(scene: Scene, proxy: Proxy) -> None:
    """It is tried ever less often, and the server's words and the advice lead back."""
    fail(proxy, "configmaps", "deployments", passes=2)
    result = scene.apply(settings("two"), BAD, flags=BUDGETS)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    assert any(SAID in cause["message"] for cause in ended["causes"])
    gaps = [after - before for before, after in pairwise(proxy.met_at)]
    assert len(gaps) < 20
    assert 2.5 <= max(gaps) < 7.0
    assert result.document["rollback"]["written_at"] == ""
    assert {item["at_end"]["state"] for item in result.document["objects"]} == {"as-written"}
    shown = one_line(report(scene, result))
    assert "rollback not written within " in shown
    assert WORDS in shown
    assert LOST not in result.stdout + result.stderr + shown
    assert result.stderr.count(f"configmap/settings: {SAID}") == 1
    proxy.rest()
    assert "finish the rollback: rollout-gate recover web" in shown
    assert "apply the whole manifest" not in shown
    assert_rolled_back(recover(scene, "web"), "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B1702", "B1732", "B1733")
def test_configuration_that_a_webhook_keeps_off_does_not_keep_its_workload(
    scene: Scene, proxy: Proxy
) -> None:
    """The workload is written once the budget has ended; what ate that is named, as a cause too."""
    fail(proxy, "configmaps", passes=1)
    result = scene.apply(settings("two"), BAD, flags=BUDGETS)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    scene.wait_done("deployments", "web")
    assert_runs(scene.objects, "shop/web:1")
    (left,) = [one for one in result.document["warnings"] if SAID in one]
    assert left.startswith("configmap/settings could not be restored")
    assert "was not complete within 30 s" in result.document["message"]
    (why,) = [one for one in ended["causes"] if SAID in one["message"]]
    assert (why["reason"], why["message"][:18]) == ("Unreachable", "configmap/settings")
    written_at = datetime.fromisoformat(result.document["rollback"]["written_at"])
    started_at = datetime.fromisoformat(result.document["started_at"])
    assert (written_at - started_at).total_seconds() > 30.0


@pytest.mark.contract("B1731", "B1733")
def test_a_signal_while_a_way_back_gets_errors_is_told_in_one_sentence(
    scene: Scene, proxy: Proxy
) -> None:
    """No budget ended it, and nobody knows whether the last write was done."""
    fail(proxy, "configmaps", "deployments", passes=2)
    with scene.applying(settings("two"), BAD, flags=BUDGETS) as running:
        running.wait_for_line("retry")
        running.send(signal.SIGTERM)
        result = running.wait()
    ended = assert_ended(result, 143, "interrupted", "Interrupted")
    (why,) = [one["message"] for one in ended["causes"] if SAID in one["message"]]
    assert why.startswith(f"the write of configmap/settings: {SAID}")
    assert why.endswith("; whether it was done is not known")
    assert why in result.document["warnings"]
    assert "within the budget" not in result.stdout
    shown = one_line(report(scene, result))
    assert "rollback perhaps written at" in shown
    proxy.rest()
    assert_rolled_back(recover(scene, "web"), "CrashLoop")


@pytest.mark.contract("B1731")
def test_a_signal_while_a_pause_gets_errors_names_what_was_to_be_paused(
    scene: Scene, proxy: Proxy
) -> None:
    """And nothing else that was written: none of that was to go back."""
    fail(proxy, "deployments", passes=1)
    flags = [*BUDGETS, "--on-failure", "pause"]
    with scene.applying(settings("two"), BAD, flags=flags) as running:
        running.wait_for_line("retry")
        running.send(signal.SIGTERM)
        result = running.wait()
    (left,) = [one for one in result.document["warnings"] if "was done is not known" in one]
    assert left.startswith(f"the write of deployment/web: {SAID}")


@pytest.mark.contract("B160", "B1701")
def test_a_webhook_that_is_back_in_time_lets_the_way_back_be_verified(
    scene: Scene, proxy: Proxy
) -> None:
    """Nothing of it is left in the report but the line."""
    fail(proxy, "configmaps", "deployments", passes=2, most=4)
    result = scene.apply(settings("two"), BAD, flags=BUDGETS)
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    assert len(proxy.met) == 4
    assert not any(WORDS in one for one in result.document["warnings"])
    assert result.stderr.count(SAID) == 1


@pytest.mark.contract("B160", "B1701")
def test_a_webhook_that_is_down_from_the_first_write_on_is_named(
    scene: Scene, proxy: Proxy
) -> None:
    """Nothing shows that anything was written: 9, with what has to be mended."""
    fail(proxy, "configmaps", "deployments")
    result = scene.apply(settings("two"), web(2), flags=BUDGETS)
    assert_ended(result, 9, "lost-contact", "Unreachable")
    assert result.document["message"].startswith(f"configmap/settings: {SAID}")
    assert len(proxy.met) < 25
    shown = one_line(report(scene, result))
    assert "once what the server names is mended, look" in shown
    assert LOST not in result.stdout + result.stderr + shown
    assert result.stderr.count(f"configmap/settings: {SAID}") == 1


@pytest.mark.contract("B1701")
def test_a_webhook_that_is_down_for_the_workload_is_why_the_rest_goes_back(
    scene: Scene, proxy: Proxy
) -> None:
    """What the advice calls named by the server is named."""
    fail(proxy, "deployments")
    result = scene.apply(settings("two"), web(2), flags=BUDGETS)
    ended = assert_ended(result, 4, "rolled-back", "ApplyRejected")
    assert SAID in result.document["message"]
    assert SAID in ended["message"]
    shown = one_line(report(scene, result))
    assert "correct what the server names" in shown
    assert LOST not in result.stdout + result.stderr + shown
    assert mode(scene) == "one"


@pytest.mark.contract("B1740")
def test_nothing_is_begun_while_a_way_back_is_kept_off(scene: Scene, proxy: Proxy) -> None:
    """An apply that comes between leaves the record of what failed to whoever can finish it."""
    fail(proxy, "configmaps", "deployments", passes=2)
    flags = (*BUDGETS, "--smoke-test", "false")
    assert scene.apply(settings("two"), web(2), flags=flags).exit_code == 5
    result = scene.apply(settings("three"), web(3), flags=BUDGETS)
    assert_ended(result, 5, "rollback-failed", "CheckFailed", cause="Unreachable")
    assert result.document["recoverable"]
    shown = one_line(report(scene, result))
    assert "it began nothing else" in shown
    assert "rollout-gate recover web" in shown
    assert "first finished" not in shown
    assert_runs(scene.objects, "shop/web:2")
    proxy.rest()
    recovered = recover(scene, "web")
    assert_ended(recovered, 4, "rolled-back", "CheckFailed", running="baseline")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B1702")
def test_an_unchanged_template_keeps_no_other_workload_from_its_way_back(
    scene: Scene, proxy: Proxy
) -> None:
    """Of api only its count of pods was changed: its webhook's error is no reason to leave web."""
    assert_verified(scene.apply(settings("one"), web(name="api"), web()))
    fail(proxy, "deployments/api", passes=1)
    flags = (*BUDGETS, "--smoke-test", "false")
    more = web(name="api", replicas=3)
    result = scene.apply(settings("two"), more, web(2), flags=flags)
    assert result.exit_code == 5, str(result)
    scene.wait_done("deployments", "web")
    assert_runs(scene.objects, "shop/web:1")
    assert scene.objects.get("deployments", "api")["spec"]["replicas"] == 3
    proxy.rest()
    assert recover(scene).exit_code == 4
    assert scene.objects.get("deployments", "api")["spec"]["replicas"] == 2


# -- what is to answer a failure, and no way back ------------------------------------------------


def assert_left_open(result: Result, could_not: str) -> None:
    """Assert that a run ends 5 and names as cause and warning what it could not do, and why."""
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    causes = [one["message"] for one in ended["causes"]]
    assert any(could_not in one and SAID in one for one in causes), causes
    assert result.document["recoverable"]
    assert result.document["rollback"] is None
    assert warned(result, could_not, SAID)
    assert "could not be restored" not in result.stdout


@pytest.mark.contract("B136", "B1730")
def test_a_deletion_that_a_webhook_keeps_off_is_left_to_recover(scene: Scene, proxy: Proxy) -> None:
    """The first version crashes on until then, and the report says so."""
    fail(proxy, "deployments", method="DELETE")
    flags = [*BUDGETS, "--on-first-failure", "delete"]
    result = scene.apply(web(name="api", behaviour=CRASH), flags=flags)
    assert_left_open(result, "deployment/api could not be deleted: ")
    shown = one_line(report(scene, result))
    assert "deployment/api failed, and could not be deleted" in shown
    assert "once its cause is gone, have it deleted: rollout-gate recover api" in shown
    proxy.rest()
    finished = recover(scene, "api")
    assert_ended(finished, 6, "failed", "CrashLoop")
    assert [one["metadata"]["name"] for one in scene.objects.list_all("deployments")] == ["web"]


@pytest.mark.contract("B541", "B1730")
def test_a_pause_that_a_webhook_keeps_off_is_left_to_recover(scene: Scene, proxy: Proxy) -> None:
    """The failed version goes on rolling out until then, and the report says so."""
    fail(proxy, "deployments", passes=1)
    result = scene.apply(settings("two"), BAD, flags=[*BUDGETS, "--on-failure", "pause"])
    assert_left_open(result, "deployment/web could not be paused: ")
    shown = one_line(report(scene, result))
    assert "could not be paused; pods of both versions run" in shown
    assert "once its cause is gone, have it paused: rollout-gate recover web" in shown
    assert "keeps revision 1" not in shown
    proxy.rest()
    finished = recover(scene, "web")
    assert_ended(finished, 6, "failed", "CrashLoop")
    assert warned(finished, "deployment/web is paused, as --on-failure pause asks")
    assert scene.objects.get("deployments", "web")["spec"]["paused"]


@pytest.mark.contract("B136", "B1730")
def test_a_scaling_to_zero_that_a_webhook_keeps_off_is_left_to_recover(
    scene: Scene, proxy: Proxy
) -> None:
    """Its pods crash on until then."""
    fail(proxy, "deployments/api", passes=1)
    flags = [*BUDGETS, "--on-first-failure", "scale-to-zero"]
    result = scene.apply(web(name="api", behaviour=CRASH), flags=flags)
    assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    assert warned(result, "deployment/api could not be scaled to zero: ", SAID)
    assert "have it scaled to zero: rollout-gate recover api" in one_line(report(scene, result))
    proxy.rest()
    finished = recover(scene, "api")
    assert_ended(finished, 6, "failed", "CrashLoop", running="none")
    assert scene.objects.get("deployments", "api")["spec"]["replicas"] == 0


@pytest.mark.contract("B1730")
def test_what_goes_back_beside_a_first_failure_that_stays_is_left_to_recover(
    scene: Scene, proxy: Proxy
) -> None:
    """The new Deployment stays, as asked; that the configuration did not go back decides."""
    fail(proxy, "configmaps", passes=1)
    new = web(name="api", behaviour=CRASH)
    result = scene.apply(settings("two"), web(), new, flags=BUDGETS)
    assert (result.exit_code, result.document["outcome"]) == (5, "rollback-failed"), str(result)
    assert result.document["recoverable"]
    shown = one_line(report(scene, result))
    assert "recover" in shown
    proxy.rest()
    finished = recover(scene, "web", "api")
    assert finished.exit_code == 6, str(finished)
    assert mode(scene) == "one"
