"""Faults of the control plane itself: away for a while, away for good, not acting at all."""

from __future__ import annotations

import time

import pytest

from tests.bed.expectations import assert_ended, assert_runs, assert_verified, images
from tests.bed.scene import Scene, web
from tests.cluster.control_plane import ControlPlane

LONG_AWAY_SECONDS = 25.0


@pytest.mark.parametrize(
    ("process", "line"),
    [
        pytest.param(
            "api_server",
            "applied +deployment/web changed",
            marks=[pytest.mark.fault(2), pytest.mark.contract("B116", "B117", "B164")],
        ),
        pytest.param(
            "controller_manager",
            "following replicaset.*shop/web:2",
            marks=[pytest.mark.fault(21), pytest.mark.contract("B109", "B116")],
        ),
    ],
)
def test_a_pause_for_longer_than_the_deadline_changes_no_verdict(
    scene: Scene, plane: ControlPlane, process: str, line: str
) -> None:
    """Held still for 25 s with a deadline of 15 s: a good version is not rolled back for that."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="ready=3", progress_deadline_seconds=15)) as running:
        running.wait_for_line(line)
        with getattr(plane, process).suspended():
            time.sleep(LONG_AWAY_SECONDS)
        result = running.wait()
    assert_verified(result)
    assert result.duration_seconds > LONG_AWAY_SECONDS
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.fault(21)
@pytest.mark.contract("B137")
def test_a_rollback_waits_for_controllers_as_long_as_its_own_timeout(
    scene: Scene, plane: ControlPlane
) -> None:
    """They are held still for 30 s of the way back with a deadline of 10 s: 4 once they go on."""
    scene.serve(web(progress_deadline_seconds=10))
    bad = web(2, behaviour="crash=0.1", progress_deadline_seconds=10)
    with scene.applying(bad, flags=("--rollback-timeout", "100s")) as running:
        running.wait_for_line("pod/.*CrashLoop")
        with plane.controller_manager.suspended():
            time.sleep(LONG_AWAY_SECONDS + 5.0)
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    assert result.duration_seconds > LONG_AWAY_SECONDS
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.fault(2)
@pytest.mark.contract("B164")
def test_a_server_that_is_restarted_changes_no_verdict(scene: Scene, plane: ControlPlane) -> None:
    """Killed and started again in mid-flight, it is found again."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="ready=1")) as running:
        running.wait_for_line("applied +deployment/web changed")
        plane.api_server.kill()
        plane.api_server.start()
        plane.wait_until_serving()
        result = running.wait()
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.fault(3)
@pytest.mark.contract("B28", "B163")
def test_a_server_that_never_answers_again_is_lost_contact(
    scene: Scene, plane: ControlPlane
) -> None:
    """Out of reach for good after a write: 9 within the budgets, and the state is unknown."""
    scene.serve(web())
    flags = ("--timeout", "4s", "--rollback-timeout", "2s")
    with scene.applying(web(2, behaviour="never-ready"), flags=flags) as running:
        running.wait_for_line("applied +deployment/web changed")
        with plane.api_server.suspended():
            code = running.wait_for_end(4 + 2 + 10)
        result = running.wait()
    assert code == 9, str(result)
    assert_ended(result, 9, "lost-contact", "Unreachable", running="unknown")
    assert result.document["rollback"] is None
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.fault(21)
@pytest.mark.contract("B109", "B25")
def test_a_controller_that_does_not_act_is_the_cause(scene: Scene, plane: ControlPlane) -> None:
    """Nothing observes the change: that is the cause, and the rollback cannot be verified, 5."""
    scene.serve(web())
    flags = ("--timeout", "32s", "--rollback-timeout", "2s")
    with plane.controller_manager.suspended():
        result = scene.apply(web(2, progress_deadline_seconds=120), flags=flags)
    assert_ended(result, 5, "rollback-failed", "Timeout", cause="ControllerNotObserving")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
