"""Quotas that count."""

from __future__ import annotations

from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects


def enforce(objects: Objects, body: JSON) -> None:
    """Create a quota and wait until it counts."""
    objects.create("resourcequotas", body)
    name, hard = body["metadata"]["name"], body["spec"]["hard"]

    def counts(found: JSON) -> bool:
        status = found.get("status", {})
        return bool(status.get("hard") == hard and status.get("used", {}).keys() >= hard.keys())

    objects.wait_for("resourcequotas", name, counts)
