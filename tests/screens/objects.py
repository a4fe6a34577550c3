"""What the screens are about: a Deployment, its checks, and words to wait for."""

from __future__ import annotations

from typing import Final

from tests.bed import scene
from tests.cluster.kubelet.api import JSON

UNDER_WAY: Final = "applied +deployment/web changed"
CHECKS: Final = (
    "--prometheus-url https://prometheus.test"
    " --check 'errors: sum(rate(errors_total[1m])) <= 0.5' --bake 60"
)


def web(version: int | str = 1, /, **over: object) -> JSON:
    """Return a Deployment `web` whose pods are available after 5 s; `over` as in `scene.web`."""
    given: dict[str, object] = {"min_ready_seconds": 5, **over}
    return scene.web(version, **given)


def immutable(body: JSON) -> JSON:
    """Return a ConfigMap that cannot be changed any more."""
    return {**body, "immutable": True}
