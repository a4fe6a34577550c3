"""A node on which scripted pods run: its object, and the lease that keeps it alive."""

from __future__ import annotations

import http
from datetime import UTC, datetime

from sandbox.kubelet.nodes import node, node_status
from sandbox.objects.selectors import own_taints
from tests.cluster.kubelet.api import MERGE_PATCH, Api, ApiError

LEASE_SECONDS = 40

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_TAINT = {"key": "sandbox.rollout-gate.dev/scripted", "value": "true", "effect": "NoSchedule"}


class Node:
    """A node by its name; `log_port` is where the logs of its pods are served."""

    def __init__(self, api: Api, name: str, log_port: int) -> None:
        self.name = name
        self._api = api
        self._path = f"/api/v1/nodes/{name}"
        self._log_port = log_port
        self._lease_exists = False

    def register(self, *, tainted: bool) -> None:
        """Create the node, or take over the one that is there, and report it ready.

        `tainted` keeps the pods of a scheduler away that does not know that this node is played.
        """
        _unless_there(self._api, "/api/v1/nodes", node(self.name, [_TAINT] if tainted else []))
        self.report(is_ready=True)

    def report(self, *, is_ready: bool) -> None:
        """Write the node's status; one that is ready loses the taints that say otherwise."""
        wall = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = node_status(wall, self._log_port, is_ready=is_ready)
        live = self._api.json("PATCH", f"{self._path}/status", {"status": status}, MERGE_PATCH)
        taints = own_taints(live)
        # Admission taints every new node as not ready, and no node controller need be there.
        if is_ready and taints != live["spec"].get("taints", []):
            self._api.json("PATCH", self._path, {"spec": {"taints": taints}}, MERGE_PATCH)

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
        _unless_there(self._api, _LEASES, {"metadata": {"name": self.name}, "spec": spec})
        self._lease_exists = True

    def remove(self) -> None:
        """Delete the node object."""
        self._api.json("DELETE", self._path)


def _unless_there(api: Api, path: str, body: dict[str, object]) -> None:
    try:
        api.json("POST", path, body)
    except ApiError as error:
        if error.status != http.HTTPStatus.CONFLICT:
            raise
