"""Which objects need no judge, and how many steps a rollout of each kind takes."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.kinds.configuration import is_configuration
from gate.core.kinds.registry import kind_of
from gate.core.model.objects import Ref, Workload
from tests.table import each
from tests.unit.core.kinds.test_daemon_set import agent
from tests.unit.core.kinds.test_job import at_work
from tests.unit.core.kinds.test_stateful_set import stateful_set
from tests.unit.core.world import deployment

LOAD_BALANCER = {"spec": {"type": "LoadBalancer"}}


@pytest.mark.contract("B1032")
@each(
    ("api_version", "kind", "body", "needs_none"),
    [
        ("v1", "ConfigMap", {}, True),
        ("v1", "Secret", {"data": {}}, True),
        ("v1", "Service", {"spec": {"type": "ClusterIP"}}, True),
        ("v1", "Service", LOAD_BALANCER, False),
        ("serving.knative.dev/v1", "Service", {}, False),
        ("rbac.authorization.k8s.io/v1", "Role", {}, True),
        ("policy/v1", "PodDisruptionBudget", {}, True),
        ("networking.k8s.io/v1", "NetworkPolicy", {}, True),
        ("networking.k8s.io/v1", "Ingress", {}, False),
        ("autoscaling/v2", "HorizontalPodAutoscaler", {}, False),
        ("v1", "PersistentVolumeClaim", {}, False),
        ("v1", "Namespace", {}, False),
        ("v1", "Pod", {}, False),
        ("v1", "ReplicationController", {}, False),
        ("apps/v1", "ReplicaSet", {}, False),
        ("apps/v1", "StatefulSet", {}, False),
        ("apps/v1", "DaemonSet", {}, False),
        ("batch/v1", "Job", {}, False),
        ("batch/v1", "CronJob", {}, False),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, False),
        ("example.com/v1", "ConfigMap", {}, False),
        ("v1", "Service", {"spec": None}, True),
    ],
)
def test_what_needs_no_judge(
    api_version: str, kind: str, body: dict[str, Any], *, needs_none: bool
) -> None:
    """By group and kind: a custom resource with a familiar name is none of it."""
    assert is_configuration(Ref(api_version, kind, "shop", "one"), body) is needs_none


SURGES = {"replicas": 10, "max_surge": "2", "max_unavailable": "0"}


@pytest.mark.contract("B1642")
@each(
    ("live", "pods_before", "steps"),
    [
        (deployment(**SURGES), 10, 5),
        (deployment(**SURGES), 3, 2),
        (deployment(**SURGES), 40, 5),
        (deployment(**SURGES), 0, 1),
        (deployment(**{**SURGES, "replicas": 0}), 10, 0),
        (stateful_set(replicas=10), 10, 10),
        (stateful_set(replicas=10, partition=9), 10, 1),
        (stateful_set(replicas=10, partition=12), 10, 0),
        (stateful_set(replicas=10, on_delete=True), 10, 0),
        (stateful_set(replicas=10), 0, 10),
        (stateful_set(replicas=10, partition=9), 0, 10),
        (stateful_set(replicas=10, on_delete=True), 7, 3),
        (stateful_set(replicas=10, partition=6), 8, 4),
        (stateful_set(replicas=10, is_parallel=True), 0, 1),
        (stateful_set(replicas=10, is_parallel=True), 10, 10),
        (stateful_set(replicas=10, is_parallel=True, max_unavailable="50%"), 10, 2),
        (agent(), 3, 3),
        (agent(), 2, 2),
        (agent(), 0, 1),
        (agent(strategy={"type": "OnDelete"}), 3, 0),
        (at_work(), 0, 1),
    ],
)
def test_a_rollout_takes_at_least_the_steps_that_its_controller_makes(
    live: Workload, pods_before: int, steps: int
) -> None:
    """None for pods that it leaves as they are, and one for all that come at once."""
    assert kind_of(live.ref).least_steps(live, pods_before) == steps
