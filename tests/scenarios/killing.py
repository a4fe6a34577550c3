"""A gate that is killed, the lock that it leaves, and who finishes its work."""

from __future__ import annotations

from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate

LEASE = "rollout-gate.deployment.web"
SLOW = "ready=40"
RECORD = "rollout-gate/attempt"
JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_RUN_ID": "7",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "deploy",
    "GITHUB_REPOSITORY": "shop/web",
    "GITHUB_SERVER_URL": "https://github.com",
}


def lease(scene: Scene) -> JSON:
    """Return the lock of the Deployment."""
    return scene.objects.get("leases", LEASE)


def kill_apply(scene: Scene, program: PlayedGate, *bodies: JSON, line: str = UNDER_WAY) -> None:
    """Apply objects, and kill the gate once it says a line; the controllers see what it wrote."""
    with program.start("apply", "-f", scene.manifest(*bodies), env=JOB) as running:
        running.wait_for_line(line, 60.0)
        running.kill()
    scene.objects.wait("deployments", lambda found: all(map(is_observed, found)))


def is_observed(deployment: JSON) -> bool:
    """Tell whether the controller has seen the latest spec."""
    return bool(deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"])


def recover(scene: Scene, *words: str) -> Result:
    """Recover, with a document on stdout."""
    return scene.gate("recover", *words, "--output", "json")
