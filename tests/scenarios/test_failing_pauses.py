"""A webhook keeps off what is to pause a failed version, scale it to 0 or delete it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bed.expectations import assert_ended, warned
from tests.bed.scene import settings, web
from tests.cluster.command import Result
from tests.scenarios.test_failing_writes import BAD, BUDGETS, SAID, one_line, served
from tests.scenarios.versions import CRASH

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")


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
def test_a_deletion_that_a_webhook_keeps_off_is_left_to_recover(tmp_path: Path) -> None:
    """The first version crashes on until then, and the report says so."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("deployments", method="DELETE")
        flags = [*BUDGETS, "--on-first-failure", "delete"]
        result = scene.apply(web(name="api", behaviour=CRASH), flags=flags)
        assert_left_open(result, "deployment/api could not be deleted: ")
        shown = one_line(scene, result)
        assert "deployment/api failed, and could not be deleted" in shown
        assert "once its cause is gone, have it deleted: rollout-gate recover api" in shown
        webhook.fail()
        finished = scene.gate("recover", "api", "--output", "json")
        assert_ended(finished, 6, "failed", "CrashLoop")
        assert [one["metadata"]["name"] for one in scene.objects.list_all("deployments")] == ["web"]


@pytest.mark.contract("B541", "B1730")
def test_a_pause_that_a_webhook_keeps_off_is_left_to_recover(tmp_path: Path) -> None:
    """The failed version goes on rolling out until then, and the report says so."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("deployments", passes=1)
        result = scene.apply(settings("two"), BAD, flags=[*BUDGETS, "--on-failure", "pause"])
        assert_left_open(result, "deployment/web could not be paused: ")
        shown = one_line(scene, result)
        assert "could not be paused; pods of both versions run" in shown
        assert "once its cause is gone, have it paused: rollout-gate recover web" in shown
        assert "keeps revision 1" not in shown
        webhook.fail()
        finished = scene.gate("recover", "web", "--output", "json")
        assert_ended(finished, 6, "failed", "CrashLoop")
        assert warned(finished, "deployment/web is paused, as --on-failure pause asks")
        assert scene.objects.get("deployments", "web")["spec"]["paused"]


@pytest.mark.contract("B136", "B1730")
def test_a_scaling_to_zero_that_a_webhook_keeps_off_is_left_to_recover(tmp_path: Path) -> None:
    """Its pods crash on until then."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("deployments/api", passes=1)
        flags = [*BUDGETS, "--on-first-failure", "scale-to-zero"]
        result = scene.apply(web(name="api", behaviour=CRASH), flags=flags)
        assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
        assert warned(result, "deployment/api could not be scaled to zero: ", SAID)
        assert "have it scaled to zero: rollout-gate recover api" in one_line(scene, result)
        webhook.fail()
        finished = scene.gate("recover", "api", "--output", "json")
        assert_ended(finished, 6, "failed", "CrashLoop", running="none")
        assert scene.objects.get("deployments", "api")["spec"]["replicas"] == 0


@pytest.mark.contract("B1730")
def test_what_goes_back_beside_a_first_failure_that_stays_is_left_to_recover(
    tmp_path: Path,
) -> None:
    """The new Deployment stays, as asked; that the configuration did not go back decides."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", passes=1)
        new = web(name="api", behaviour=CRASH)
        result = scene.apply(settings("two"), web(), new, flags=BUDGETS)
        assert (result.exit_code, result.document["outcome"]) == (5, "rollback-failed"), str(result)
        assert result.document["recoverable"]
        shown = one_line(scene, result)
        assert "recover" in shown
        webhook.fail()
        finished = scene.gate("recover", "web", "api", "--output", "json")
        assert finished.exit_code == 6, str(finished)
        assert scene.objects.get("configmaps", "settings")["data"] == settings("one")["data"]
