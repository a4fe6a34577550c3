"""The one node on which the scripted pods run: its object, and the lease that keeps it alive."""

from __future__ import annotations

import http
from datetime import UTC, datetime

from tests.cluster.kubelet.api import JSON, MERGE_PATCH, Api, ApiError
from tests.cluster.kubelet.pod import NODE_IP

LEASE_SECONDS = 40
RENEW_SECONDS = 10.0

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_TAINT = {"key": "rollout-gate.test/scripted", "value": "true", "effect": "NoSchedule"}


class Node:
    """A node that is ready from `register` on, and stays so while it is renewed.

    `tainted` keeps the pods of a scheduler away that does not know that this node is played.
    """

    def __init__(self, api: Api, name: str, log_port: int, *, tainted: bool) -> None:
        self.name = name
        self._api = api
        self._log_port = log_port
        self._taints = [_TAINT] if tainted else []
        self._lease_exists = False

    def register(self) -> None:
        """Create the node, or take over the one that is there, and report it ready."""
        body: JSON = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.name}}
        body["metadata"]["labels"] = {"kubernetes.io/hostname": self.name}
        try:
            self._api.json("POST", "/api/v1/nodes", body)
        except ApiError as error:
            if error.status != http.HTTPStatus.CONFLICT:
                raise
        path = f"/api/v1/nodes/{self.name}"
        # Admission taints every new node as not ready.
        self._api.json("PATCH", path, {"spec": {"taints": self._taints}}, MERGE_PATCH)
        self._api.json("PATCH", f"{path}/status", {"status": self._status()}, MERGE_PATCH)

    def renew(self) -> None:
        """Renew the node's lease, by which a node controller knows that it lives."""
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        if self._lease_exists:
            path, body = f"{_LEASES}/{self.name}", {"spec": {"renewTime": now}}
            self._api.json("PATCH", path, body, MERGE_PATCH)
            return
        spec = {
            "holderIdentity": self.name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": now,
        }
        lease = {"metadata": {"name": self.name}, "spec": spec}
        try:
            self._api.json("POST", _LEASES, lease)
        except ApiError as error:
            if error.status != http.HTTPStatus.CONFLICT:
                raise
        self._lease_exists = True

    def remove(self) -> None:
        """Delete the node object."""
        self._api.json("DELETE", f"/api/v1/nodes/{self.name}")

    def _status(self) -> JSON:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "the scripted kubelet is ready",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        resources = {"cpu": "1000", "memory": "1000Gi", "pods": "10000"}
        return {
            "conditions": [ready],
            # A Hostname would be tried first, and it resolves nowhere.
            "addresses": [{"type": "InternalIP", "address": NODE_IP}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._log_port}},
            "capacity": resources,
            "allocatable": resources,
            "nodeInfo": _node_info(),
        }


def _node_info() -> dict[str, str]:
    fields = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage")
    unknown = dict.fromkeys((*fields, "kubeletVersion", "kubeProxyVersion"), "scripted")
    known = {"containerRuntimeVersion": "scripted://0", "operatingSystem": "linux"}
    return unknown | known | {"architecture": "amd64"}
