"""Objects as a team would write them."""

from __future__ import annotations

from typing import Any

from sandbox.face import JSON, behaviour

BEHAVIOURS = {
    "crash": "crash=0.1",
    "pending": "never-ready",
    "half": "ready=0;only=1, never-ready",
    "slow": "ready=15",
    "unmounted": "mount-error",
}
"""What pods with such a tag do; those of any other get ready at once."""


def web(tag: str = "1", *, name: str = "web", namespace: str | None = "shop", **spec: Any) -> JSON:
    """Return a Deployment of two pods with the image `shop/web:TAG`; `spec` is added."""
    metadata: JSON = {"name": name} | ({"namespace": namespace} if namespace else {})
    labels = {"app": name}
    template: JSON = {"labels": labels}
    if tag in BEHAVIOURS:
        template["annotations"] = {behaviour.ANNOTATION: BEHAVIOURS[tag]}
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1}
    container = {"name": "web", "image": f"shop/web:{tag}", "readinessProbe": probe}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": 2,
            "minReadySeconds": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": template, "spec": {"containers": [container]}},
            **spec,
        },
    }


def marked(body: JSON, **metadata: Any) -> JSON:
    """Return an object with more in its metadata."""
    return {**body, "metadata": {**body["metadata"], **metadata}}


def settings(mode: str = "one", namespace: str = "shop") -> JSON:
    """Return a ConfigMap."""
    metadata = {"name": "settings", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"mode": mode}}


def service(port: int = 80) -> JSON:
    """Return a Service in front of web."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": port}]},
    }


def autoscaler(target: str = "web") -> JSON:
    """Return a HorizontalPodAutoscaler."""
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": target, "namespace": "shop"},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 9},
    }
