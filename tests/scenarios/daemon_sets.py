"""DaemonSets for scenarios: three nodes of a sandbox, and what becomes of them during a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.kubelet.behaviour import Clause, parse
from sandbox.kubelet.kubelet import Kubelet
from sandbox.objects.placement import target_node
from tests.bed.bed import Bed
from tests.bed.scene import OURS, Scene
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON
from tests.played.bed import PlayedUsers

NODES = ("n-1", "n-2", "sandbox-0")
"""Two nodes and the one that a sandbox begins with, in the order in which they follow."""
LONG_SECONDS = 1200.0
"""Of virtual time: a node is called unready after a minute, and clocks run out."""
RULES: tuple[JSON, ...] = (
    {
        "apiGroups": ["apps"],
        "resources": ["daemonsets"],
        "verbs": ["get", "list", "watch", "patch", "create"],
    },
    {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
)
"""What an apply of a DaemonSet needs."""


def log(version: int = 1, *, is_everywhere: bool = False, **spec: Any) -> JSON:
    """Return version N of the DaemonSet `log`; `spec` goes into its spec.

    `is_everywhere` is whether its pods tolerate every taint: then a node that is not ready is to
    run one still, which otherwise the controller no longer counts.
    """
    body = manifests.deployment("log", image=f"shop/log:{version}", **spec)
    del body["spec"]["replicas"]
    if is_everywhere:
        body["spec"]["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]
    return {**body, "kind": "DaemonSet"}


def rolling(max_unavailable: int) -> JSON:
    """Return the strategy by which so many nodes at a time are without a pod."""
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable}}


@dataclass(frozen=True, slots=True)
class BadNodes:
    """What pods do: those of an image crash on some nodes."""

    image: str
    names: Sequence[str]
    outranks_annotations: bool = False

    def clauses(self, pod: JSON) -> Sequence[Clause]:
        """Return what a pod is asked to do, by its node and image."""
        spec = pod["spec"]
        is_bad = target_node(pod) in self.names and spec["containers"][0]["image"] == self.image
        return parse("crash=0.1") if is_bad else ()

    def log(self, _image: str) -> str:
        """Return nothing."""
        return ""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a sandbox, and what becomes of them."""

    users: PlayedUsers
    scene: Scene

    @classmethod
    def of(cls, bed: Bed, scene: Scene) -> Nodes:
        """Let two more nodes join a sandbox."""
        assert isinstance(bed.users, PlayedUsers)
        nodes = cls(bed.users, scene)
        for name in NODES[:2]:
            nodes.kubelet.join(name)
        return nodes

    @property
    def kubelet(self) -> Kubelet:
        """The kubelet of all nodes."""
        return self.users.played.cluster.kubelet

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something in so many seconds from now."""
        self.users.played.cluster.timers.call_later(seconds, act)

    def serve(self, body: JSON) -> JSON:
        """Let a DaemonSet run on all nodes, as a run of the gate would have left it."""
        self.scene.apply_as(OURS, body)
        return self.scene.objects.wait_for("daemonsets", "log", is_rolled_out, LONG_SECONDS)

    def images(self) -> dict[str, str]:
        """Return what runs on each node, by its name."""
        pods = self.scene.objects.list_all("pods")
        return {target_node(pod): pod["spec"]["containers"][0]["image"] for pod in pods}

    def wait_until_lost(self, name: str) -> None:
        """Let a node fall silent, and wait until the cluster calls it unready."""
        self.kubelet.silence(name)
        self.scene.objects.wait_for("nodes", name, lambda node: not is_ready(node), LONG_SECONDS)


def is_ready(node: JSON) -> bool:
    """Tell whether a node is ready."""
    conditions = node["status"]["conditions"]
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def is_rolled_out(live: JSON) -> bool:
    """Tell whether each node runs an available pod of the newest revision."""
    status, wanted = live.get("status", {}), len(NODES)
    names = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    is_observed = status.get("observedGeneration") == live["metadata"]["generation"]
    return is_observed and all(status.get(name) == wanted for name in names)
