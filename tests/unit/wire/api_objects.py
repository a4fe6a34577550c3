"""Objects as the API server sends them, with all that the gate reads of them."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "web-1",
        "namespace": "shop",
        "uid": "p-1",
        "resourceVersion": "9",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 30,
        "finalizers": ["example.com/hold"],
        "ownerReferences": [
            {"kind": "Thing", "uid": "other"},
            {"kind": "ReplicaSet", "uid": "rs-1", "controller": True},
        ],
    },
    "spec": {"containers": [{"name": "web", "image": "shop/web:1"}]},
    "status": {
        "phase": "Running",
        "reason": "",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "no\x07 node",
            },
            {"type": "Ready", "status": "True"},
        ],
        "initContainerStatuses": [
            {
                "name": "init",
                "ready": True,
                "restartCount": 0,
                "state": {"terminated": {"exitCode": 0, "reason": "Completed"}},
            }
        ],
        "containerStatuses": [
            {
                "name": "web",
                "ready": False,
                "restartCount": 3,
                "imageID": "sha256:1",
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off\n1m"}},
                "lastState": {
                    "terminated": {
                        "exitCode": 137,
                        "reason": "OOMKilled",
                        "message": "last\nwords\x1b[0m",
                        "finishedAt": "2026-01-01T00:00:01Z",
                    }
                },
            },
            {"name": "sidecar", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
        ],
    },
}
EVENT: dict[str, Any] = {
    "kind": "Event",
    "apiVersion": "v1",
    "metadata": {"uid": "e-1", "resourceVersion": "4", "name": "web-1.x"},
    "involvedObject": {"kind": "Pod", "name": "web-1", "uid": "p-1"},
    "type": "Warning",
    "reason": "BackOff",
    "message": "::error::Back-off",
    "count": 7,
    "firstTimestamp": "2026-01-01T00:00:00Z",
    "lastTimestamp": "2026-01-01T00:05:00Z",
    "eventTime": None,
}
REPLICA_SET: dict[str, Any] = {
    "kind": "ReplicaSet",
    "apiVersion": "apps/v1",
    "metadata": {
        "name": "web-abc",
        "namespace": "shop",
        "uid": "rs-1",
        "resourceVersion": "8",
        "generation": 2,
        "labels": {"app": "web", "pod-template-hash": "abc"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {
            "deployment.kubernetes.io/revision": "2",
            "kubernetes.io/change-cause": "two\nlines",
        },
        "ownerReferences": [{"kind": "Deployment", "uid": "d-1", "controller": True}],
    },
    "spec": {
        "replicas": 2,
        "minReadySeconds": 5,
        "template": {
            "metadata": {"labels": {"pod-template-hash": "abc", "app": "web"}},
            "spec": {
                "initContainers": [{"name": "mesh", "image": "mesh:1", "restartPolicy": "Always"}],
                "containers": [{"name": "web", "image": "shop/web:1"}],
            },
        },
    },
    "status": {
        "replicas": 2,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "observedGeneration": 1,
        "conditions": [
            {
                "type": "ReplicaFailure",
                "status": "True",
                "reason": "FailedCreate",
                "message": "quota",
            }
        ],
    },
}


def noise(count: int, seed: int = 0) -> str:
    """Return the base64 of so many bytes, which does not pack well."""
    return base64.b64encode(random.Random(seed).randbytes(count)).decode()


def line(kind: str, found: object) -> bytes:
    """Make a line of a watch."""
    return json.dumps({"type": kind, "object": found}).encode() + b"\n"


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a copy without the field at `names`."""
    name, *rest = names
    inner = {name: without(value[name], *rest)} if rest else {}
    return {**{key: kept for key, kept in value.items() if key != name}, **inner}


def text(value: str) -> Any:
    """Say of a text of this test that it is clean."""
    return value
