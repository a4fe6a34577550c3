"""Workloads whose pods the gate, a controller or a person replaces: what runs, who was evicted."""

from __future__ import annotations

import pytest

from tests.bed.pods import image_of
from tests.bed.scene import Scene
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set

waits = pytest.mark.sandbox_only("it waits until clocks run out")

WRITTEN = "patch statefulsets/db"
CRASH = "crash=0.1"
NEVER = "never-ready"
DEADLINE = "ProgressDeadlineExceeded"
SOON = ("--progress-deadline", "10s")
ON_DELETE: JSON = {"updateStrategy": {"type": "OnDelete"}}
ROLLING: JSON = {"updateStrategy": {"type": "RollingUpdate"}}
A_MOMENT_SECONDS = 60
"""By default nothing may move for ten minutes, and a way back has a quarter of an hour."""


def db(version: int, /, **over: object) -> JSON:
    """Return a StatefulSet `db` of three pods."""
    return stateful_set(**{"image": f"shop/db:{version}", **over})  # type: ignore[arg-type]


def evictions(audit: Trail) -> list[str]:
    """Return the pods that somebody asked to be evicted, in order."""
    return [one.name for one in audit.requests() if one.subresource == "eviction"]


def images(scene: Scene) -> dict[str, str]:
    """Return the image of each pod of `db`, by its name."""
    return {
        pod["metadata"]["name"]: image_of(pod) for pod in scene.objects.list_all("pods", "app=db")
    }


def all_run(version: int, replicas: int = 3) -> dict[str, str]:
    """Return what `images` is where each pod runs a version."""
    return {f"db-{number}": f"shop/db:{version}" for number in range(replicas)}


def assert_blocked(result: Result, *words: str) -> None:
    """Assert that a pod is a cause, which names its revision and has these words."""
    causes = result.document["workloads"][0]["causes"]
    (said,) = (each["message"] for each in causes if each["reason"] == "BlockedByPod")
    missing = [word for word in ("of revision db-", *words) if word not in said]
    assert not missing, f"{missing} not in {said}"


def images_of(scene: Scene, name: str = "db") -> list[str]:
    """Return the images of all pods of a workload, by the names of the pods."""
    return [image_of(pod) for pod in scene.objects.list_all("pods", f"app={name}")]
