"""Versions of `web` that fail or stay, and what is there of them afterwards."""

from __future__ import annotations

import base64
import gzip
import json

from tests.bed.expectations import assert_ended, assert_verified
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON

CRASH = "crash=0.1"
KEEP = ("--on-failure", "keep")
DOCUMENT = ("--output", "json")


def mode(scene: Scene) -> str:
    """Return what the ConfigMap says."""
    value: str = scene.objects.get("configmaps", "settings")["data"]["mode"]
    return value


def history(scene: Scene) -> JSON:
    """Return what the lock remembers of the Deployment."""
    annotations = scene.objects.get("leases", "rollout-gate.deployment.web")["metadata"][
        "annotations"
    ]
    packed = base64.b64decode(annotations["rollout-gate/history"])
    found: JSON = json.loads(gzip.decompress(packed))
    return found


def apply_and_keep(scene: Scene, *bodies: JSON) -> None:
    """Apply a version that crashes, and let it stand."""
    ended = scene.apply(*bodies, flags=KEEP)
    assert_ended(ended, 6, "failed", "CrashLoop")


def keep_a_bad_version(scene: Scene, configuration: JSON | None = None) -> None:
    """Verify v1, then let a crashing v9 stand, with a configuration of its own or the one given."""
    assert_verified(scene.apply(settings("one"), web()))
    beside = settings("nine") if configuration is None else configuration
    apply_and_keep(scene, beside, web(9, behaviour=CRASH))
