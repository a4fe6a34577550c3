"""What is remembered of an attempt whose gate died: what it wrote is the gate's, not others'."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_verified, images
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import is_observed, kill_apply
from tests.scenarios.versions import DOCUMENT, mode

pytestmark = pytest.mark.sandbox_only("minutes of waiting")


def is_empty(deployment: JSON) -> bool:
    """Tell whether the controller has seen the 0 replicas, and no pod is left."""
    return is_observed(deployment) and not deployment["status"].get("replicas")


@pytest.mark.contract("B766", "B763")
@pytest.mark.parametrize("command", ["undo", "recover"])
def test_what_a_recovery_to_no_pods_finished_is_the_gates(
    scene: Scene, program: PlayedGate, command: str
) -> None:
    """Killed half-way and scaled to 0: it is finished forward, and nobody else is blamed for it."""
    for version in (1, 2, 3):
        assert_verified(scene.apply(settings(str(version)), web(version)))
    bad = web(4, behaviour="never-ready")
    kill_apply(scene, program, settings("4"), bad, line="applied .*deployment/web changed")
    scene.objects.patch("deployments", "web", {"spec": {"replicas": 0}})
    scene.objects.wait_for("deployments", "web", is_empty)
    if command == "recover":
        recovered = scene.gate("recover", "web", *DOCUMENT)
        assert_verified(recovered, "Vacuous", running="none")
    result = scene.gate("undo", "web", *DOCUMENT)
    assert "finishing what attempt" in result.stderr or command == "recover"
    assert result.exit_code == 0, str(result)
    assert "somebody else" not in result.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:3"]
    assert mode(scene) == "3"
