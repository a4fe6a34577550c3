"""What the rig plays beside Deployments: nodes, Jobs, claims, and control planes run otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.face import NodeState
from tests.bed.nodes import Nodes
from tests.bed.scene import Scene, service
from tests.cluster.kubelet.api import JSON, ApiError
from tests.cluster.objects import Objects, condition, is_ready
from tests.cluster.workloads import daemon_set, disruption_budget, job, stateful_set

pytestmark = pytest.mark.on_oldest

Holds = Callable[[JSON], bool]


def counts(**wanted: int) -> Holds:
    """Return the condition that counters of a status have these values, absent ones 0."""

    def holds(item: JSON) -> bool:
        status = item.get("status", {})
        observed = status.get("observedGeneration", 0) >= item["metadata"]["generation"]
        return observed and all(status.get(name, 0) == value for name, value in wanted.items())

    return holds


def schedules(desired: int, available: int) -> Holds:
    """Return the condition that a DaemonSet wants that many pods and has that many available."""
    return counts(desiredNumberScheduled=desired, numberAvailable=available)


def ended(type_: str, reason: str | None = None) -> Holds:
    """Return the condition that a Job has ended so."""

    def holds(item: JSON) -> bool:
        found = condition(item, type_)
        return found.get("status") == "True" and reason in (None, found.get("reason"))

    return holds


def test_a_daemon_set_follows_its_nodes(objects: Objects, nodes: Nodes) -> None:
    """One pod for each node of its pool: one that joins gets one, one that leaves is not wanted."""
    first, *_ = nodes.join(2)
    objects.create("daemonsets", daemon_set(pool=nodes.pool))
    objects.wait_for("daemonsets", "agent", schedules(2, 2))
    nodes.join()
    objects.wait_for("daemonsets", "agent", schedules(3, 3))
    assert len({pod["spec"]["nodeName"] for pod in objects.list_all("pods")}) == 3
    nodes.leave(first)
    objects.wait_for("daemonsets", "agent", schedules(2, 2))


@pytest.mark.parametrize(("tolerates_all", "desired"), [(False, 2), (True, 3)])
def test_a_node_that_is_not_ready_starts_no_pod(
    objects: Objects, nodes: Nodes, tolerates_all: bool, desired: int
) -> None:
    """A pod that is wanted there all the same waits; every pod starts when the node is ready."""
    nodes.join(2)
    (late,) = nodes.join(state=NodeState.NOT_READY)
    objects.create("daemonsets", daemon_set(pool=nodes.pool, tolerates_all=tolerates_all))
    objects.wait_for("daemonsets", "agent", schedules(desired, 2))
    nodes.turn(late, NodeState.READY)
    objects.wait_for("daemonsets", "agent", schedules(3, 3))


@pytest.mark.configuration("node-lifecycle")
def test_a_dead_node_is_noticed(objects: Objects, nodes: Nodes) -> None:
    """The node controller calls it unknown and its pod not ready, until it is back.

    Without `tolerates_all` it were chance whether the DaemonSet wants a pod there still: its
    controller looks when the pod is called unready, before or after the node's taint is there.
    """
    first, *_ = nodes.join(2)
    objects.create("daemonsets", daemon_set(pool=nodes.pool, tolerates_all=True))
    objects.wait_for("daemonsets", "agent", schedules(2, 2))
    nodes.turn(first, NodeState.DEAD)
    found = nodes.wait(first, "Unknown")
    assert condition(found, "Ready")["reason"] == "NodeStatusUnknown"
    objects.wait_for("daemonsets", "agent", schedules(2, 1))
    nodes.turn(first, NodeState.READY)
    objects.wait_for("daemonsets", "agent", schedules(2, 2))


def test_the_pods_of_a_job_end_with_a_code(objects: Objects) -> None:
    """Complete, failed after its back-off, by its deadline, and by its policy for an exit code."""
    on_three = {"containerName": "migrate", "operator": "In", "values": [3]}
    policy = {"rules": [{"action": "FailJob", "onExitCodes": on_three}]}
    played: dict[str, tuple[JSON, Holds]] = {
        "good": ({}, ended("Complete")),
        "failed": (
            {"behaviour": "crash", "backoffLimit": 0},
            ended("Failed", "BackoffLimitExceeded"),
        ),
        "late": (
            {"behaviour": "ready", "activeDeadlineSeconds": 1},
            ended("Failed", "DeadlineExceeded"),
        ),
        "policy": (
            {"behaviour": "crash;code=3", "podFailurePolicy": policy},
            ended("Failed", "PodFailurePolicy"),
        ),
    }
    for name, (over, _) in played.items():
        body = job(**over)
        body["metadata"]["name"] = name
        objects.create("jobs", body)
    for name, (_, holds) in played.items():
        objects.wait_for("jobs", name, holds)


def test_a_finished_job_goes_by_its_time_to_live(objects: Objects) -> None:
    """`ttlSecondsAfterFinished: 0` deletes it as soon as it has ended."""
    objects.create("jobs", job(ttlSecondsAfterFinished=0))
    objects.wait("jobs", bool)
    objects.wait("jobs", lambda found: not found)


def test_a_budget_forbids_evictions(scene: Scene) -> None:
    """429 with the cause DisruptionBudget, while all of its pods are needed."""
    objects = scene.objects
    objects.create("poddisruptionbudgets", disruption_budget(minAvailable=1))
    objects.create("statefulsets", stateful_set(replicas=1))
    objects.wait("pods", lambda pods: any(map(is_ready, pods)))
    objects.wait_for(
        "poddisruptionbudgets", "db", counts(currentHealthy=1, desiredHealthy=1, expectedPods=1)
    )
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "db-0"}}
    with pytest.raises(ApiError, match="disruption budget") as raised:
        scene.client.json("POST", f"{objects.path('pods', 'db-0')}/eviction", eviction)
    assert raised.value.status == 429


def test_a_claim_is_bound_and_a_service_has_endpoints(scene: Scene) -> None:
    """A volume that is there is bound to the claim; what a Service selects becomes its end."""
    objects, namespace = scene.objects, scene.objects.namespace
    size: JSON = {"storage": "1Gi"}
    common: JSON = {"accessModes": ["ReadWriteOnce"], "storageClassName": namespace}
    volume = {**common, "capacity": size, "hostPath": {"path": "/nowhere"}}
    objects.create("persistentvolumes", {"metadata": {"name": namespace}, "spec": volume})
    claim = {**common, "resources": {"requests": size}}
    objects.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": claim})
    objects.wait_for("persistentvolumeclaims", "data", lambda it: it["status"]["phase"] == "Bound")
    objects.delete("persistentvolumes", namespace)
    objects.create("services", service())
    objects.create("statefulsets", stateful_set("web", replicas=1))
    objects.wait_for("endpoints", "web", lambda it: bool(it.get("subsets")))


@pytest.mark.parametrize(
    "replaced", [1, pytest.param(2, marks=pytest.mark.configuration("max-unavailable"))]
)
def test_max_unavailable_is_honoured_where_its_gate_is_on(scene: Scene, replaced: int) -> None:
    """Two pods are replaced at once; elsewhere the server drops the field, and one is."""
    spec: JSON = {
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
    }
    scene.apply_as("team", stateful_set(**spec))
    scene.objects.wait_for("statefulsets", "db", counts(availableReplicas=3, updatedReplicas=3))
    bad = stateful_set(image="shop/db:2", behaviour="never-ready", **spec)
    live = scene.apply_as("team", bad)
    assert ("maxUnavailable" in live["spec"]["updateStrategy"]["rollingUpdate"]) == (replaced == 2)
    scene.objects.wait_for(
        "statefulsets", "db", counts(updatedReplicas=replaced, availableReplicas=3 - replaced)
    )
