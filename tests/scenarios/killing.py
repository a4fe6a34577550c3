"""A gate that is killed, the lock that it leaves, and who finishes its work."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

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


def annotate(scene: Scene, annotations: JSON, name: str = LEASE) -> None:
    """Change annotations of a lock: the record of an attempt, for one."""
    scene.objects.patch("leases", name, {"metadata": {"annotations": annotations}})


def kill_at(program: PlayedGate, line: str, *words: str | Path) -> None:
    """Run a command, and kill the gate once it says a line."""
    with program.start(*words, env=JOB) as running:
        running.wait_for_line(line, 60.0)
        running.kill()


def die_at(scene: Scene, line: str, *bodies: JSON, flags: Sequence[str] = ()) -> None:
    """Apply, and kill the gate once it has written such a line."""
    with scene.gate.start("apply", "-f", scene.manifest(*bodies), *flags) as running:
        running.wait_for_line(line)
        running.kill()


def signal_at(
    program: PlayedGate, line: str, *words: str | Path, number: signal.Signals = signal.SIGTERM
) -> Result:
    """Run a command, and send it a signal once it says a line; return how it ended of that."""
    with program.start(*words, env=JOB) as running:
        running.wait_for_line(line, 60.0)
        running.send(number)
        result = running.wait()
    assert result.exit_code == 128 + number, str(result)
    return result


def kill_apply(
    scene: Scene,
    program: PlayedGate,
    *bodies: JSON,
    line: str = UNDER_WAY,
    flags: Sequence[str] = (),
) -> None:
    """Apply objects, and kill the gate once it says a line; the controllers see what it wrote."""
    kill_at(program, line, "apply", "-f", scene.manifest(*bodies), *flags)
    scene.objects.wait("deployments", lambda found: all(map(is_observed, found)))


def is_observed(deployment: JSON) -> bool:
    """Tell whether the controller has seen the latest spec."""
    seen = deployment.get("status", {}).get("observedGeneration")
    return bool(seen == deployment["metadata"]["generation"])


def recover(scene: Scene, *words: str) -> Result:
    """Recover, with a document on stdout."""
    return scene.gate("recover", *words, "--output", "json")
