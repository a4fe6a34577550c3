"""Locks and recovery on a real API server and with real processes: Leases, Secrets, proofs."""

from __future__ import annotations

import pytest

from tests.bed.bed import Bed
from tests.bed.expectations import assert_refused, assert_runs, assert_verified, images
from tests.bed.interrupting import UNDER_WAY
from tests.bed.leases import held_locks
from tests.bed.scene import Scene, secret, web
from tests.cluster.kubelet.api import JSON

LEASE = "rollout-gate.deployment.web"
RECORD = "rollout-gate/attempt"
JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_RUN_ID": "7",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "deploy",
    "GITHUB_REPOSITORY": "shop/web",
}
JENKINS = {
    "JENKINS_URL": "https://jenkins.test/",
    "BUILD_URL": "https://jenkins.test/job/shop/7/",
    "BUILD_TAG": "jenkins-shop-7",
}
THREE = ("api", "db", "web")


def three(version: int, **more: str) -> list[JSON]:
    """Return three Deployments of a version."""
    return [web(version, name=name, **more) for name in THREE]


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


@pytest.mark.contract("B532", "B539")
def test_two_recoveries_of_one_job_do_not_meet(bed: Bed, scene: Scene) -> None:
    """One goes back, the other waits for it, and finds nothing left."""
    program, _ = bed.users.everything()
    scene.serve(*three(1))
    path = scene.manifest(*three(2, behaviour="never-ready"))
    with scene.gate.start("apply", "-f", path, env=JOB) as running:
        running.wait_for_line(UNDER_WAY)
        running.kill()
    with program.start("recover", env=JOB) as one, program.start("recover", env=JOB) as other:
        codes = sorted([one.wait().exit_code, other.wait().exit_code])
    assert codes == [0, 4]
    for each in THREE:
        assert images(scene.objects.get("deployments", each)) == [f"shop/{each}:1"]
    assert held_locks(scene) == []


@pytest.mark.contract("B539")
def test_a_live_rollout_of_a_parallel_stage_is_left_alone(scene: Scene) -> None:
    """Both stages have every variable of the build in common: only a dead process is dead."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="ready=8"))
    with scene.gate.start("apply", "-f", path, "--output", "json", env=JENKINS) as running:
        running.wait_for_line(UNDER_WAY)
        result = scene.gate("recover", "web", "--lock-wait", "2s", env=JENKINS)
        assert_refused(result, "Locked", "deployment/web is locked by jenkins-shop-7")
        assert_verified(running.wait())
    assert_runs(scene.objects, "shop/web:2", revision=2)
