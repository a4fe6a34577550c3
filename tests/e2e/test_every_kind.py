"""A manifest with a workload of each kind, of which each in turn fails: all goes back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.bed.expectations import changes
from tests.bed.nodes import Nodes
from tests.bed.pods import image_of
from tests.bed.scene import Scene, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, job, stateful_set

CRASH = "crash=0.1;code=3"
CONFIGURATION = "patch configmaps/settings"
WORKLOADS = {"patch daemonsets/agent", "patch deployments/web", "patch statefulsets/db"}


def version(number: int, pool: str, failing: str = "") -> Sequence[JSON]:
    """Return a version of everything, in which one kind fails; its Job has the version's name."""

    def asked(kind: str, otherwise: str = "") -> str:
        return CRASH if kind == failing else otherwise

    migration = job(backoffLimit=0, behaviour=asked("Job", "complete"))
    migration["metadata"]["name"] = f"migrate-{number}"
    return (
        settings(str(number)),
        migration,
        web(number, behaviour=asked("Deployment")),
        stateful_set(image=f"shop/db:{number}", behaviour=asked("StatefulSet")),
        daemon_set(image=f"shop/agent:{number}", pool=pool, behaviour=asked("DaemonSet")),
    )


def images(scene: Scene) -> set[str]:
    """Return the images of the pods that run and are not going."""
    pods = scene.objects.list_all("pods")
    there = (pod for pod in pods if "deletionTimestamp" not in pod["metadata"])
    return {image_of(pod) for pod in there if pod["status"]["phase"] == "Running"}


@pytest.mark.parametrize("failing", ["Job", "Deployment", "StatefulSet", "DaemonSet"])
def test_whichever_fails_all_of_it_goes_back(
    scene: Scene, nodes: Nodes, audit: Trail, failing: str
) -> None:
    """Exit 4 with the reason of the one that failed; where it is the Job, no other was written."""
    nodes.join(2)
    first = scene.apply(*version(1, nodes.pool))
    assert first.exit_code == 0, str(first)
    before = len(changes(audit))
    result = scene.apply(*version(2, nodes.pool, failing))
    reason = "JobFailed" if failing == "Job" else "CrashLoop"
    assert (result.exit_code, result.document["reason"]) == (4, reason), str(result)
    (failed,) = (one for one in result.document["workloads"] if one["reason"] == reason)
    assert failed["kind"] == failing
    assert failed["causes"][0]["reason"] == reason, failed["causes"]
    assert images(scene) == {"shop/web:1", "shop/db:1", "shop/agent:1"}
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "1"}
    sent = changes(audit)[before:]
    assert sent[:2] == [CONFIGURATION, "patch jobs/migrate-2"]
    assert sent.count(CONFIGURATION) == 2
    assert (WORKLOADS & {*sent}) == (set() if failing == "Job" else WORKLOADS)
    evicted = [one for one in sent if one.endswith("/eviction")]
    assert evicted == (["create pods/db-2/eviction"] if failing == "StatefulSet" else [])
