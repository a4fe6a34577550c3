"""Rollouts as long as real ones: the usual deadlines, budgets and back-offs, at their real length.

In virtual time they cost what their computation costs. Containers wait as long as on a node.
"""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_rolled_back,
    assert_runs,
)
from tests.bed.scene import Scene, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result

MINUTE, HOUR = 60.0, 3600.0
LONGEST_SECONDS = 4 * HOUR


def applied(scene: Scene, version: int, *flags: str, **over: object) -> Result:
    """Apply a version of `web` with the usual deadline, to the end, however long that takes."""
    body = web(version, **{"progress_deadline_seconds": 600, **over})
    with scene.applying(body, flags=flags) as running:
        return running.wait(LONGEST_SECONDS)


def seconds_until(result: Result, event: str) -> float:
    """Return when the timeline first tells of an event."""
    timeline = result.document["timeline"]
    return float(next(each["at_seconds"] for each in timeline if each["event"] == event))


@pytest.mark.sandbox_only("10 minutes of real time")
@pytest.mark.contract("B100", "B111")
def test_the_usual_deadline(scene: Scene, audit: Trail) -> None:
    """Ten minutes without a ready pod end by the Deployment's own deadline, with few requests."""
    scene.serve(web(progress_deadline_seconds=600))
    result = applied(scene, 2, behaviour="never-ready")
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert 599 <= seconds_until(result, "failed") <= 606
    assert len(audit.requests().of_objects()) < 100
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.sandbox_only("2 hours of real time")
@pytest.mark.long
@pytest.mark.contract("B104", "B105", "B107")
def test_two_hours_are_the_longest_budget(scene: Scene) -> None:
    """Without a deadline, and without --timeout, a rollout that never ends does end after 2 h."""
    never = 2**31 - 1
    scene.serve(web(progress_deadline_seconds=never))
    result = applied(scene, 2, behaviour="never-ready", progress_deadline_seconds=never)
    assert_rolled_back(result, "Timeout", cause="NotReady")
    assert 2 * HOUR <= seconds_until(result, "failed") <= 2 * HOUR + 5
    assert_runs(scene.objects, "shop/web:1", revision=3)
