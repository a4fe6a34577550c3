"""The DaemonSet `agent` on three nodes of its own, and what a run says of it."""

from __future__ import annotations

from typing import Any

from tests.bed.nodes import Nodes, NodeState
from tests.bed.scene import OURS, Scene
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set

OLD, NEW = "shop/agent:1", "shop/agent:2"
WRITTEN = "patch daemonsets/agent"
IMPATIENT = ("--progress-deadline", "20s", "--rollback-timeout", "40s")
LONG_SECONDS = 300.0
"""How long a run may take whose clocks run out, in virtual time."""


class Agents:
    """The DaemonSet `agent` on three nodes of its own."""

    def __init__(self, scene: Scene, nodes: Nodes) -> None:
        self.scene = scene
        self.nodes = nodes
        self.names = nodes.join(3)

    def version(self, number: int = 1, max_unavailable: int = 1, **given: Any) -> JSON:
        """Return a version, by which so many nodes at a time are without a pod."""
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable}}
        made: JSON = {"updateStrategy": rolling, **given}
        return daemon_set(image=f"shop/agent:{number}", pool=self.nodes.pool, **made)

    def serve(self, **given: Any) -> None:
        """Let the first version run on all nodes, as a run of the gate would have left it."""
        self.scene.apply_as(OURS, self.version(**given))
        self.scene.objects.wait_for("daemonsets", "agent", is_rolled_out)

    def apply(self, body: JSON, *flags: str) -> Result:
        """Apply a version, to the end."""
        with self.scene.applying(body, flags=flags) as running:
            return running.wait(LONG_SECONDS)

    def lose(self, name: str) -> None:
        """Make a node not ready, and wait until that is known."""
        self.nodes.turn(name, NodeState.NOT_READY)
        self.nodes.wait(name, "False")

    def images(self) -> dict[str, str]:
        """Return what runs on each node, by its name."""
        pods = self.scene.objects.list_all("pods")
        return {pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"] for pod in pods}


def is_rolled_out(live: JSON) -> bool:
    """Tell whether each of three nodes runs an available pod of the newest revision."""
    status = live.get("status", {})
    counters = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    is_observed = status.get("observedGeneration") == live["metadata"]["generation"]
    return is_observed and all(status.get(name) == 3 for name in counters)


def said(result: Result) -> str:
    """Return the message of the DaemonSet."""
    (document,) = result.document["deployments"]
    return str(document["message"])


def failed_at(result: Result) -> float:
    """Return in which second a run said that the version had failed."""
    timeline = result.document["timeline"]
    return float(next(line["at_seconds"] for line in timeline if line["event"] == "failed"))
