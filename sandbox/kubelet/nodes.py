"""The nodes that are played: what their objects ask of them, and which of them takes a pod.

An annotation of a Node asks, and may be changed at any time:

    sandbox.rollout-gate.dev/node: ready

`ready` plays its pods. `not-ready` reports the node so (its network is not up) and starts no pod;
what runs goes on. `dead` falls silent, as a machine without power: no lease, no status, no pod
that goes. A Node that is deleted is silent, too. A Node without the annotation is somebody else's.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from sandbox.json import JSON
from sandbox.kubelet.pod import NODE_IP
from sandbox.objects.selectors import CONDITION_TAINTS, target_node

ANNOTATION: Final = "sandbox.rollout-gate.dev/node"
_REPELLING: Final = frozenset({"NoSchedule", "NoExecute"})


class NodeState(enum.StrEnum):
    """What a node is asked to be, or is since its object has gone."""

    READY = "ready"
    NOT_READY = "not-ready"
    DEAD = "dead"


def asked_state(node: JSON) -> NodeState | None:
    """Return what a Node asks for, None where it asks for nothing that there is."""
    said = (node["metadata"].get("annotations") or {}).get(ANNOTATION)
    return NodeState(said) if said in set(NodeState) else None


class Nodes:
    """The nodes by name, with what each is and how many pods it has.

    Those of the beginning are ready without having to be seen; the others come with `see`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._states = dict.fromkeys(names, NodeState.READY)
        self._repelling: set[str] = set()
        self._pods: Counter[str] = Counter()

    def see(self, node: JSON) -> bool:
        """Take notice of a Node; return whether it is ours and was something else before."""
        name, state = node["metadata"]["name"], asked_state(node)
        if state is None:
            return False
        taints = node.get("spec", {}).get("taints") or ()
        if any(_repels(taint) for taint in taints):
            self._repelling.add(name)
        before, self._states[name] = self._states.get(name), state
        return before is not state

    def lose(self, node: JSON) -> None:
        """Let a node fall silent whose object has gone, and take no pod any more."""
        self._states.pop(node["metadata"]["name"], None)
        self._repelling.discard(node["metadata"]["name"])

    def state(self, name: str) -> NodeState:
        """Return what a node is."""
        return self._states.get(name, NodeState.DEAD)

    def choose(self, pod: JSON) -> str | None:
        """Return the node of ours that a pod is on, is made for, or else is given.

        Looks at a node name and at the affinity to one node by which a DaemonSet's controller asks
        for it (daemon/util, `ReplaceDaemonSetPodNodeNameNodeAffinity`). Other pods are spread
        evenly over the ready nodes without a taint that repels.
        """
        if name := target_node(pod):
            return name if name in self._states else None
        names = (name for name, state in self._states.items() if state is NodeState.READY)
        offered = (name for name in names if name not in self._repelling)
        return min(offered, key=lambda name: (self._pods[name], name), default=None)

    def take(self, name: str) -> None:
        """Count one more pod on a node."""
        self._pods[name] += 1

    def release(self, name: str) -> None:
        """Count one pod less on a node."""
        self._pods[name] -= 1


def _repels(taint: JSON) -> bool:
    return taint["effect"] in _REPELLING and not taint["key"].startswith(CONDITION_TAINTS)


_RESOURCES: Final = {"cpu": "1000", "memory": "1000Gi", "pods": "10000"}
_UNKNOWN: Final = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage")
_VERSIONS: Final = ("kubeletVersion", "kubeProxyVersion")
_IS_READY: Final = {
    "status": "True",
    "reason": "KubeletReady",
    "message": "the scripted kubelet is ready",
}
_IS_NOT_READY: Final = {
    "status": "False",
    "reason": "KubeletNotReady",
    "message": "container runtime network not ready: NetworkReady=false"
    " reason:NetworkPluginNotReady message:the network of this node is not up",
}


def node(
    name: str, taints: Sequence[JSON] = (), asked: str = "", labels: Mapping[str, str] | None = None
) -> JSON:
    """Return a node as its kubelet creates it; `asked` is the text of the annotation of `nodes`."""
    own = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    metadata: JSON = {"name": name, "labels": {**own, **(labels or {})}}
    if asked:
        metadata["annotations"] = {ANNOTATION: asked}
    body: JSON = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    return body | {"spec": {"taints": list(taints)} if taints else {}}


def node_status(wall: str, log_port: int | None = None, *, is_ready: bool = True) -> JSON:
    """Return the status of a node; `log_port` is where it serves logs over HTTPS."""
    ready = {
        "type": "Ready",
        **(_IS_READY if is_ready else _IS_NOT_READY),
        "lastHeartbeatTime": wall,
        "lastTransitionTime": wall,
    }
    endpoints = {} if log_port is None else {"kubeletEndpoint": {"Port": log_port}}
    return {
        "conditions": [ready],
        # A Hostname would be tried first, and it resolves nowhere.
        "addresses": [{"type": "InternalIP", "address": NODE_IP}],
        "daemonEndpoints": endpoints,
        "capacity": dict(_RESOURCES),
        "allocatable": dict(_RESOURCES),
        "nodeInfo": _node_info(),
    }


def _node_info() -> dict[str, str]:
    unknown = dict.fromkeys((*_UNKNOWN, *_VERSIONS), "scripted")
    known = {"containerRuntimeVersion": "scripted://0", "operatingSystem": "linux"}
    return unknown | known | {"architecture": "amd64"}
