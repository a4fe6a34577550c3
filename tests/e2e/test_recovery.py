"""Locks and recovery on a real API server: its Leases, its Secrets, its garbage collector."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, secret, web

LEASE = "rollout-gate.deployment.web"
RECORD = "rollout-gate/attempt"
JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_RUN_ID": "7",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "deploy",
    "GITHUB_REPOSITORY": "shop/web",
}


@pytest.mark.fault(14)
@pytest.mark.contract("B530", "B539", "B542")
def test_a_killed_gate_is_recovered_by_a_later_step(scene: Scene) -> None:
    """SIGKILL in mid-flight: what was served before serves again, and nothing is left over."""
    scene.serve(web(), secret("one"))
    path = scene.manifest(web(2, behaviour="never-ready"), secret("two"))
    with scene.gate.start("apply", "-f", path, env=JOB) as running:
        running.wait_for_line(UNDER_WAY)
        running.kill()
    lease = scene.objects.get("leases", LEASE)
    assert lease["spec"]["holderIdentity"].startswith("shop/web/7/1/deploy ")
    assert RECORD in lease["metadata"]["annotations"]
    kept = scene.objects.get("secrets", LEASE)
    assert kept["metadata"]["ownerReferences"][0]["uid"] == lease["metadata"]["uid"]
    result = scene.gate("recover", "--output", "json", env=JOB)
    assert result.exit_code == 4, str(result)
    assert_runs(scene.objects, "shop/web:1")
    assert scene.objects.get("secrets", "keys")["data"]["key"] == "b25l"
    left = scene.objects.get("leases", LEASE)
    assert not left["spec"]["holderIdentity"]
    assert RECORD not in left["metadata"]["annotations"]
    assert not scene.objects.find("secrets", LEASE)
    assert scene.gate("recover", env=JOB).exit_code == 0


@pytest.mark.contract("B523", "B536")
def test_an_orderly_end_gives_the_lock_back(scene: Scene) -> None:
    """The Lease stays, without a holder, and remembers what was verified."""
    assert_verified(scene.apply(web()))
    lease = scene.objects.get("leases", LEASE)
    assert not lease["spec"]["holderIdentity"]
    assert lease["spec"]["leaseTransitions"] == 0
    assert "rollout-gate/history" in lease["metadata"]["annotations"]
