"""What stands when a test begins: a Deployment `web` that carries a secret, served by the gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import config_map, deployment
from tests.cluster.objects import Objects
from tests.e2e.invariants import CANARY, key_of

APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
OURS = "rollout-gate"

Manifest = Callable[..., Path]
"""Writes objects into a manifest and returns its path."""


class Web(Protocol):
    """Makes the Deployment `web` with the image `shop/web:VERSION`."""

    def __call__(self, version: int | str = 1, **over: object) -> JSON:
        """`over` replaces what `tests.cluster.manifests.deployment` is given."""


class Serving(Protocol):
    """Lets objects run before the test, as a run of the gate would have left them."""

    def __call__(self, *objects: JSON) -> JSON:
        """Return the live object of the first."""


def web(scheduler_name: str, version: int | str = 1, **over: object) -> JSON:
    """Return `web`: two pods, a deadline of 60 s, a secret in its environment."""
    given: dict[str, object] = {
        "name": "web",
        "replicas": 2,
        "progress_deadline_seconds": 60,
        "env": {"PASSWORD": CANARY},
        "scheduler_name": scheduler_name,
    }
    name = over.get("name", "web")
    return deployment(**{**given, "image": f"shop/{name}:{version}", **over})  # type: ignore[arg-type]


def settings(value: str = "one") -> JSON:
    """Return a ConfigMap `settings`."""
    return config_map("settings", {"mode": value})


def secret(value: str = CANARY) -> JSON:
    """Return a Secret `keys` with one key."""
    metadata = {"name": "keys"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"key": value}}


def service(name: str = "web") -> JSON:
    """Return a Service in front of `web`."""
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def autoscaler() -> JSON:
    """Return an HPA that targets `web`; nothing scales it but the test."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9}
    metadata = {"name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": spec,
    }


def quota(name: str, **hard: str) -> JSON:
    """Return a ResourceQuota; `/` and `.` of a resource's name are written as `__` and `_`."""
    limits = {key.replace("__", "/").replace("_", "."): value for key, value in hard.items()}
    metadata = {"name": name}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": limits},
    }


def apply_as(cluster: Cluster, objects: Objects, manager: str, body: JSON) -> JSON:
    """Apply an object on the server under a field manager's name, by force; return what is live."""
    key = key_of(body, objects.namespace)
    path = f"{objects.path(key.resource, key.name)}?fieldManager={manager}&force=true"
    return cluster.api.json("PATCH", path, body, APPLY_PATCH)


def change_as(
    cluster: Cluster, objects: Objects, manager: str, patch: JSON, subresource: str = ""
) -> JSON:
    """Merge a patch into the Deployment `web` under a field manager's name; return what is live."""
    path = objects.path("deployments", "web") + (f"/{subresource}" if subresource else "")
    return cluster.api.json("PATCH", f"{path}?fieldManager={manager}", patch, MERGE_PATCH)


def template_annotation(name: str, value: str) -> JSON:
    """Return a patch that sets an annotation of the pod template."""
    return {"spec": {"template": {"metadata": {"annotations": {name: value}}}}}


def serve(cluster: Cluster, objects: Objects, *bodies: JSON) -> JSON:
    """Apply objects as the gate would and wait for the Deployments; return the first, live."""
    live = [apply_as(cluster, objects, OURS, body) for body in bodies]
    complete = [
        objects.wait_complete(body["metadata"]["name"])
        for body in bodies
        if body["kind"] == "Deployment"
    ]
    return (complete or live)[0]
