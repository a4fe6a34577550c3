"""A webhook that is down answers writes with an error, while reads and locks work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through
from tests.scenarios.test_contact import status

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")

BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "30s")
WORDS: Final = 'failed calling webhook "policy.example": connect: connection refused'
ERROR: Final = status(500, f"Internal error occurred: {WORDS}")
SAID: Final = "the server answered with 500 Internal Server Error: Internal error occurred: failed"
LOST: Final = "answer was lost"
BAD: Final = web(2, behaviour="crash=0.1")


class Webhook:
    """Stands before the writes of some kinds, and fails after so many that it let pass."""

    def __init__(self) -> None:
        """Let all pass."""
        self.kinds: tuple[str, ...] = ()
        self.method = "PATCH"
        self.passes = 0
        self.most_failures = 10_000
        self.clock: Callable[[], float] = lambda: 0.0
        self.failed_at: list[float] = []

    def fail(self, *kinds: str, passes: int = 0, method: str = "PATCH") -> None:
        """Fail for writes of these kinds, by this method, after the next so many."""
        self.kinds, self.passes, self.method = kinds, passes, method

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, or answer for the webhook."""
        is_write = request.method == self.method and not request.read_parameter("dryRun")
        if not is_write or not any(f"/{kind}" in request.path for kind in self.kinds):
            return handle(request)
        self.passes -= 1
        if self.passes >= 0 or len(self.failed_at) >= self.most_failures:
            return handle(request)
        self.failed_at.append(self.clock())
        return ERROR


@contextmanager
def served(folder: Path) -> Iterator[tuple[Scene, Webhook]]:
    """Let a first version serve, behind a webhook."""
    webhook = Webhook()
    with sandbox_bed(folder) as bed:
        assert isinstance(bed.users, PlayedUsers)
        webhook.clock = bed.users.played.clock.now
        scene = scene_through(bed, webhook)
        assert_verified(scene.apply(settings("one"), web()))
        yield scene, webhook


def one_line(scene: Scene, result: Result) -> str:
    """Return what a person reads of a result, in one line."""
    path = scene.folder / "result.json"
    path.write_text(result.stdout)
    return " ".join(scene.gate("report", path).stdout.split())


@pytest.mark.contract("B160", "B785", "B1701", "B1702")
def test_a_way_back_that_a_webhook_keeps_off_was_not_written(tmp_path: Path) -> None:
    """It is tried ever less often, and the server's words and the advice lead back."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", "deployments", passes=2)
        result = scene.apply(settings("two"), BAD, flags=BUDGETS)
        ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
        assert any(SAID in cause["message"] for cause in ended["causes"])
        gaps = [after - before for before, after in pairwise(webhook.failed_at)]
        assert len(gaps) < 20
        assert 2.5 <= max(gaps) < 7.0
        assert result.document["rollback"]["written_at"] == ""
        assert {item["at_end"]["state"] for item in result.document["objects"]} == {"as-written"}
        shown = one_line(scene, result)
        assert "rollback not written, not verified" in shown
        assert WORDS in shown
        assert LOST not in result.stdout + result.stderr + shown
        assert result.stderr.count(f"configmap/settings: {SAID}") == 1
        webhook.fail()
        assert "finish the rollback: rollout-gate recover web" in shown
        assert "apply the whole manifest" not in shown
        assert_rolled_back(scene.gate("recover", "web", "--output", "json"), "CrashLoop")
        assert_runs(scene.objects, "shop/web:1")
        assert scene.objects.get("configmaps", "settings")["data"] == settings("one")["data"]


@pytest.mark.contract("B1702")
def test_configuration_that_a_webhook_keeps_off_does_not_keep_its_workload(tmp_path: Path) -> None:
    """The workload is written once the budget has ended, and what is left is named."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", passes=1)
        result = scene.apply(settings("two"), BAD, flags=BUDGETS)
        assert result.exit_code == 5, str(result)
        scene.wait_done("deployments", "web")
        assert_runs(scene.objects, "shop/web:1")
        (left,) = [one for one in result.document["warnings"] if SAID in one]
        assert left.startswith("configmap/settings could not be restored")
        assert result.document["rollback"]["written_at"]


@pytest.mark.contract("B1702", "B1732", "B1733")
def test_what_kept_configuration_off_is_a_cause_beside_the_time_that_ran_out(
    tmp_path: Path,
) -> None:
    """Its errors ate the budget of the workload, which was written first, and at the end of it."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", passes=1)
        result = scene.apply(settings("two"), BAD, flags=BUDGETS)
        ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
        assert "was not complete within 30 s" in result.document["message"]
        (why,) = [one for one in ended["causes"] if SAID in one["message"]]
        assert (why["reason"], why["message"][:18]) == ("Unreachable", "configmap/settings")
        written_at = datetime.fromisoformat(result.document["rollback"]["written_at"])
        started_at = datetime.fromisoformat(result.document["started_at"])
        assert (written_at - started_at).total_seconds() > 30.0


@pytest.mark.contract("B1731", "B1733")
def test_a_signal_while_a_way_back_gets_errors_is_told_in_one_sentence(tmp_path: Path) -> None:
    """No budget ended it, and nobody knows whether the last write was done."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", "deployments", passes=2)
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
        shown = one_line(scene, result)
        assert "rollback perhaps written at" in shown
        webhook.fail()
        assert_rolled_back(scene.gate("recover", "web", "--output", "json"), "CrashLoop")


@pytest.mark.contract("B1731")
def test_a_signal_while_a_pause_gets_errors_names_what_was_to_be_paused(tmp_path: Path) -> None:
    """And nothing else that was written: none of that was to go back."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("deployments", passes=1)
        flags = [*BUDGETS, "--on-failure", "pause"]
        with scene.applying(settings("two"), BAD, flags=flags) as running:
            running.wait_for_line("retry")
            running.send(signal.SIGTERM)
            result = running.wait()
        (left,) = [one for one in result.document["warnings"] if "is not known" in one]
        assert left.startswith(f"the write of deployment/web: {SAID}")


@pytest.mark.contract("B160", "B1701")
def test_a_webhook_that_is_back_in_time_lets_the_way_back_be_verified(tmp_path: Path) -> None:
    """Nothing of it is left in the report but the line."""
    with served(tmp_path) as (scene, webhook):
        webhook.most_failures = 4
        webhook.fail("configmaps", "deployments", passes=2)
        result = scene.apply(settings("two"), BAD, flags=BUDGETS)
        assert_ended(result, 4, "rolled-back", "CrashLoop")
        assert len(webhook.failed_at) == 4
        assert not any(WORDS in one for one in result.document["warnings"])
        assert result.stderr.count(SAID) == 1


@pytest.mark.contract("B160", "B1701")
def test_a_webhook_that_is_down_from_the_first_write_on_is_named(tmp_path: Path) -> None:
    """Nothing shows that anything was written: 9, with what has to be mended."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", "deployments")
        result = scene.apply(settings("two"), web(2), flags=BUDGETS)
        assert_ended(result, 9, "lost-contact", "Unreachable")
        assert result.document["message"].startswith(f"configmap/settings: {SAID}")
        assert len(webhook.failed_at) < 25
        shown = one_line(scene, result)
        assert "once what the server names is mended, look" in shown
        assert LOST not in result.stdout + result.stderr + shown
        assert result.stderr.count(f"configmap/settings: {SAID}") == 1


@pytest.mark.contract("B1701")
def test_a_webhook_that_is_down_for_the_workload_is_why_the_rest_goes_back(tmp_path: Path) -> None:
    """What the advice calls named by the server is named."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("deployments")
        result = scene.apply(settings("two"), web(2), flags=BUDGETS)
        ended = assert_ended(result, 4, "rolled-back", "ApplyRejected")
        assert SAID in result.document["message"]
        assert SAID in ended["message"]
        shown = one_line(scene, result)
        assert "correct what the server names" in shown
        assert LOST not in result.stdout + result.stderr + shown
        assert scene.objects.get("configmaps", "settings")["data"] == settings("one")["data"]


@pytest.mark.contract("B1740")
def test_nothing_is_begun_while_a_way_back_is_kept_off(tmp_path: Path) -> None:
    """An apply that comes between leaves the record of what failed to whoever can finish it."""
    with served(tmp_path) as (scene, webhook):
        webhook.fail("configmaps", "deployments", passes=2)
        flags = (*BUDGETS, "--smoke-test", "false")
        assert scene.apply(settings("two"), web(2), flags=flags).exit_code == 5
        result = scene.apply(settings("three"), web(3), flags=BUDGETS)
        assert_ended(result, 5, "rollback-failed", "CheckFailed", cause="Unreachable")
        assert result.document["recoverable"]
        shown = one_line(scene, result)
        assert "it began nothing else" in shown
        assert "rollout-gate recover web" in shown
        assert "first finished" not in shown
        assert_runs(scene.objects, "shop/web:2")
        webhook.fail()
        recovered = scene.gate("recover", "web", "--output", "json")
        assert_ended(recovered, 4, "rolled-back", "CheckFailed", running="baseline")
        assert_runs(scene.objects, "shop/web:1")
        assert scene.objects.get("configmaps", "settings")["data"] == settings("one")["data"]


@pytest.mark.contract("B1702")
def test_an_unchanged_template_keeps_no_other_workload_from_its_way_back(tmp_path: Path) -> None:
    """Of api only its count of pods was changed: its webhook's error is no reason to leave web."""
    with served(tmp_path) as (scene, webhook):
        assert_verified(scene.apply(settings("one"), web(name="api"), web()))
        webhook.fail("deployments/api", passes=1)
        flags = (*BUDGETS, "--smoke-test", "false")
        more = web(name="api", replicas=3)
        result = scene.apply(settings("two"), more, web(2), flags=flags)
        assert result.exit_code == 5, str(result)
        scene.wait_done("deployments", "web")
        assert_runs(scene.objects, "shop/web:1")
        assert scene.objects.get("deployments", "api")["spec"]["replicas"] == 3
        webhook.fail()
        assert scene.gate("recover", "--output", "json").exit_code == 4
        assert scene.objects.get("deployments", "api")["spec"]["replicas"] == 2
