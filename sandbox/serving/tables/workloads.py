"""The rows of what runs pods: Deployments and ReplicaSets."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.column import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    WORKLOAD,
    Layout,
    age_of,
    columns,
    containers,
    count,
    integers,
    name_of,
    selector_text,
)


def _deployment(body: JSON, now: datetime) -> list[Any]:
    ready = f"{count(body, 'status', 'readyReplicas')}/{count(body, 'spec', 'replicas')}"
    numbers = [count(body, "status", f"{which}Replicas") for which in ("updated", "available")]
    return [name_of(body), ready, *numbers, age_of(body, now), *_pods_of(body)]


def _replica_set(body: JSON, now: datetime) -> list[Any]:
    numbers = [count(body, "spec", "replicas"), count(body, "status", "replicas")]
    ready = count(body, "status", "readyReplicas")
    return [name_of(body), *numbers, ready, age_of(body, now), *_pods_of(body)]


def _pods_of(body: JSON) -> list[str]:
    selector = selector_text(dig(body, "spec", "selector"))
    return [*containers(dig(body, "spec", "template")), selector or NONE]


WORKLOADS = {
    "deployments.apps": Layout(
        (NAME, *columns("Ready", "Up-to-date", "Available", "Age"), *WORKLOAD, SELECTOR),
        _deployment,
    ),
    "replicasets.apps": Layout(
        (NAME, *integers("Desired", "Current", "Ready"), AGE, *WORKLOAD, SELECTOR), _replica_set
    ),
}
