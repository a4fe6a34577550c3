"""What the server accepts and would not take back; the rows were measured on Kubernetes 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.ssa.irreversible_changes import why_irreversible

JSON = dict[str, Any]


def of(api_version: str, kind: str, **parts: Any) -> JSON:
    """Return an object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **parts}


def claim(storage: str = "1Gi", **spec: Any) -> JSON:
    """Return a claim for storage."""
    requests = {"requests": {"storage": storage}}
    return of("v1", "PersistentVolumeClaim", spec={"resources": requests, **spec})


def job(image: str = "a", *, suspend: bool = False) -> JSON:
    """Return a Job."""
    template = {"spec": {"containers": [{"name": "a", "image": image}]}}
    return of("batch/v1", "Job", spec={"suspend": suspend, "template": template})


def pod(image: str = "a", **spec: Any) -> JSON:
    """Return a Pod."""
    return of("v1", "Pod", spec={"containers": [{"name": "a", "image": image}], **spec})


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (of("v1", "ConfigMap"), of("v1", "ConfigMap", immutable=True), "immutable"),
        (of("v1", "Secret", immutable=False), of("v1", "Secret", immutable=True), "immutable"),
        (claim(), claim("2Gi"), "shrink"),
        (claim(), claim(storageClassName="fast"), "spec.storageClassName"),
        (claim(), claim(volumeName="pv"), "spec.volumeName"),
        (claim(), claim(volumeAttributesClassName="x"), "spec.volumeAttributesClassName"),
        (job(suspend=True), job("b"), "suspended"),
        (pod(), pod(activeDeadlineSeconds=9), "images"),
        (pod(schedulingGates=[{"name": "a/b"}]), pod(), "images"),
    ],
)
def test_one_way_changes_are_told(before: JSON, after: JSON, word: str) -> None:
    """With why, in words."""
    assert word in why_irreversible(before, after)


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (of("v1", "ConfigMap", data={"a": "1"}), of("v1", "ConfigMap", data={"a": "2"})),
        (of("v1", "Secret", immutable=True), of("v1", "Secret", immutable=True)),
        (claim(storageClassName="a"), claim(storageClassName="a")),
        (job(), job()),
        (job(suspend=True), job("b", suspend=True)),
        (pod("a"), pod("b", nodeName="node")),
        (of("example.com/v1", "ConfigMap"), of("example.com/v1", "ConfigMap", immutable=True)),
        (of("v1", "Service", spec={"type": "ClusterIP"}), of("v1", "Service", spec={})),
    ],
)
def test_all_else_goes_back(before: JSON, after: JSON) -> None:
    """Also a kind of another group that is merely called the same."""
    assert not why_irreversible(before, after)
