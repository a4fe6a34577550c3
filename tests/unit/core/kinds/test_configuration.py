"""Which objects are all there once they are stored, and which need a judge."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.kinds.configuration import is_configuration
from gate.core.model.objects import Ref
from tests.table import each

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
