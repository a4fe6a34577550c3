"""The shared recordings, and objects as an API server writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TRACES = Path(__file__).resolve().parents[2] / "traces"


@pytest.fixture(params=sorted(path.stem for path in TRACES.glob("*.jsonl")))
def trace(request: pytest.FixtureRequest) -> Path:
    """Each recording of a real control plane in turn."""
    return TRACES / f"{request.param}.jsonl"


@pytest.fixture
def deployment() -> dict[str, Any]:
    """A Deployment that the gate applied, in JSON."""
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "d-1",
            "resourceVersion": "17",
            "generation": 3,
            "labels": {"app": "web"},
            "annotations": {"deployment.kubernetes.io/revision": "2"},
            "managedFields": [
                {
                    "manager": "rollout-gate",
                    "operation": "Apply",
                    "apiVersion": "apps/v1",
                    "time": "2026-01-01T00:00:00Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:spec": {"f:replicas": {}}},
                }
            ],
        },
        "spec": {
            "replicas": 4,
            "paused": True,
            "minReadySeconds": 5,
            "progressDeadlineSeconds": 60,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"},
            },
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "initContainers": [
                        {"name": "mesh", "image": "mesh:1", "restartPolicy": "Always"}
                    ],
                    "containers": [{"name": "web", "image": "shop/web:1"}],
                },
            },
        },
        "status": {
            "observedGeneration": 3,
            "replicas": 5,
            "updatedReplicas": 2,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "terminatingReplicas": 1,
            "conditions": [
                {
                    "type": "Progressing",
                    "status": "False",
                    "reason": "ProgressDeadlineExceeded",
                    "message": "timed out",
                }
            ],
        },
    }
