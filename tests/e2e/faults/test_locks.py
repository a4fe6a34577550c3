"""Two gates on one Deployment: one works, the other waits, is refused, or takes over."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.leases import on_another_machine
from tests.bed.scene import Scene, web
from tests.e2e.faults.ends import APPLIED
from tests.scenarios.killing import JOB

JSON_OUTPUT = ("--output", "json")
OTHER_JOB = JOB | {"GITHUB_RUN_ID": "8"}


@pytest.mark.fault(34)
@pytest.mark.contract("B520", "B521")
def test_the_second_is_refused_or_waits(scene: Scene) -> None:
    """With little patience it is refused; with more it works when the first has ended."""
    scene.serve(web())
    first = scene.manifest(web(2, behaviour="ready=8"))
    second = scene.manifest(web(3))
    with scene.gate.start("apply", "-f", first, *JSON_OUTPUT, env=JOB) as holding:
        holding.wait_for_line(APPLIED)
        words = ("apply", "-f", second, *JSON_OUTPUT)
        refused = scene.gate(*words, "--lock-wait", "1s", env=OTHER_JOB)
        assert refused.exit_code == 3, str(refused)
        assert refused.document["reason"] == "Locked", str(refused)
        with scene.gate.start(*words, "--lock-wait", "1m", env=OTHER_JOB) as waiting:
            held = holding.wait_for_end(60.0)
            result = waiting.wait()
    assert held == 0
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:3", revision=3)


@pytest.mark.fault(35)
@pytest.mark.contract("B522", "B540")
def test_the_lock_of_a_killed_gate_expires(scene: Scene) -> None:
    """Another pipeline takes over after a minute without a sign of life, and recovers first."""
    scene.serve(web())
    first = scene.manifest(web(2, behaviour="crash=0.1"))
    with scene.gate.start("apply", "-f", first, *JSON_OUTPUT, env=JOB) as running:
        running.wait_for_line(APPLIED)
        running.kill()
    on_another_machine(scene)
    path = scene.manifest(web(3))
    result = scene.gate("apply", "-f", path, "--lock-wait", "100s", *JSON_OUTPUT, env=OTHER_JOB)
    assert_verified(result)
    assert result.duration_seconds > 40
    assert_runs(scene.objects, "shop/web:3")
