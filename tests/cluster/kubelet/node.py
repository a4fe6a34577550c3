"""The one node on which the scripted pods run: its object, and the lease that keeps it alive."""

from __future__ import annotations

import http
from datetime import UTC, datetime

from sandbox.kubelet.node_objects import node, node_status
from tests.cluster.kubelet.api import MERGE_PATCH, Api, ApiError

LEASE_SECONDS = 40
RENEW_SECONDS = 10.0

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_TAINT = {"key": "sandbox.rollout-gate.dev/scripted", "value": "true", "effect": "NoSchedule"}


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
        try:
            self._api.json("POST", "/api/v1/nodes", node(self.name))
        except ApiError as error:
            if error.status != http.HTTPStatus.CONFLICT:
                raise
        path = f"/api/v1/nodes/{self.name}"
        # Admission taints every new node as not ready.
        self._api.json("PATCH", path, {"spec": {"taints": self._taints}}, MERGE_PATCH)
        wall = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = node_status(wall, self._log_port)
        self._api.json("PATCH", f"{path}/status", {"status": status}, MERGE_PATCH)

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
