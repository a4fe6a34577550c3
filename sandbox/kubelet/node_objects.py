"""Node objects as a kubelet writes them: the node, its status, its taints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sandbox.json import JSON
from sandbox.kubelet.nodes import ANNOTATION
from sandbox.kubelet.pod import NODE_IP

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
