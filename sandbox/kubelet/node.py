"""The node objects on which the scripted pods run: ready, and with room for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sandbox.json import JSON
from sandbox.kubelet.pod import NODE_IP

_RESOURCES: Final = {"cpu": "1000", "memory": "1000Gi", "pods": "10000"}
_UNKNOWN: Final = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage")
_VERSIONS: Final = ("kubeletVersion", "kubeProxyVersion")


def node(name: str, taints: Sequence[JSON] = ()) -> JSON:
    """Return a node as its kubelet creates it."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    body: JSON = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    return body | {"spec": {"taints": list(taints)} if taints else {}}


def node_status(wall: str, log_port: int | None = None) -> JSON:
    """Return the status of a ready node; `log_port` is where it serves logs over HTTPS."""
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "the scripted kubelet is ready",
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
