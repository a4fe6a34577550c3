"""The node lifecycle: what becomes of a node that is silent or gone, and of the pods on it.

Rules of `pkg/controller/nodelifecycle`, `pkg/controller/tainteviction` and `pkg/controller/podgc`.
There are no leases: the kubelet says itself when one of its nodes falls silent.
"""

from __future__ import annotations

from functools import partial

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType
from sandbox.controllers.ownership import NODES, POD_GARBAGE, key_of
from sandbox.controllers.recorder import Recorder
from sandbox.failure import forgiving_absence
from sandbox.json import JSON
from sandbox.objects.conditions import conditions_of, find
from sandbox.objects.selectors import is_tolerated, own_taints
from sandbox.storage.store import Key

GRACE_SECONDS = 50.0
"""How long a kubelet may be silent (`--node-monitor-grace-period`)."""

QUARANTINE_SECONDS = 40.0
"""How long a node has to be gone before its pods go too."""

UNREACHABLE = "node.kubernetes.io/unreachable"
_NO_EXECUTE = {"key": UNREACHABLE, "effect": "NoExecute"}


class NodeController:
    """Marks nodes unreachable, and ends or disowns their pods."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._timers = api.timers
        self._recorder = Recorder(api, NODES, "node-controller")
        self._silent: dict[str, float] = {}

    def admit(self, node: str) -> None:
        """Take the taints of its condition from a node that is ready: each that is new or back."""
        self._silent.pop(node, None)
        kept = own_taints(self._api.get(_key(node))) or None
        self._api.patch(_key(node), Patch(PatchType.MERGE, {"spec": {"taints": kept}}), NODES)

    def miss(self, node: str) -> None:
        """Count from now how long a node is silent."""
        now = self._silent[node] = self._timers.now()
        self._timers.call_later(GRACE_SECONDS, partial(self._lose, node, now))

    def _lose(self, node: str, since: float) -> None:
        """Mark a node that is silent still, and its pods."""
        if self._silent.get(node) != since:
            return
        now = self._timers.wall()
        unknown = {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": now,
        }
        with forgiving_absence():
            status = Patch(PatchType.STRATEGIC, {"status": {"conditions": [unknown]}})
            self._api.patch(_key(node), status, NODES, subresource="status")
            taints = own_taints(self._api.get(_key(node)))
            taints.append({"key": UNREACHABLE, "effect": "NoSchedule", "timeAdded": now})
            taints.append({**_NO_EXECUTE, "timeAdded": now})
            patch = Patch(PatchType.MERGE, {"spec": {"taints": taints}})
            self._api.patch(_key(node), patch, NODES)
            for pod in self._pods_on(node):
                self._mark(pod, now)
                self._evict_later(node, pod, since)

    def _mark(self, pod: JSON, now: str) -> None:
        """Write that a pod is not ready: whoever could say otherwise is silent."""
        ready = find(conditions_of(pod), "Ready")
        if ready is None or ready["status"] == "False":
            return
        changed = {**ready, "status": "False", "lastTransitionTime": now}
        patch = Patch(PatchType.STRATEGIC, {"status": {"conditions": [changed]}})
        self._api.patch(key_of("pods", pod), patch, NODES, subresource="status")
        self._recorder.warning(pod, "NodeNotReady", "Node is not ready")

    def _evict_later(self, node: str, pod: JSON, since: float) -> None:
        """Delete a pod once it has tolerated the node's silence for as long as it says."""
        tolerations = pod["spec"].get("tolerations") or ()
        found = [each for each in tolerations if is_tolerated(_NO_EXECUTE, [each])]
        waits = [each.get("tolerationSeconds") for each in found]
        if None not in waits:
            seconds = min((wait for wait in waits if wait is not None), default=0)
            self._timers.call_later(seconds, partial(self._evict, node, pod, since))

    def _evict(self, node: str, pod: JSON, since: float) -> None:
        if self._silent.get(node) == since:
            self._remove(pod, None)

    def collect(self, node: str) -> None:
        """Remove the pods of a node that has gone, unless it is back by then."""
        self._silent.pop(node, None)
        self._timers.call_later(QUARANTINE_SECONDS, partial(self._collect, node))

    def _collect(self, node: str) -> None:
        if self._api.store.get(_key(node)) is None:
            for pod in self._pods_on(node):
                self._remove(pod, 0)

    def _remove(self, pod: JSON, grace_seconds: int | None) -> None:
        by = NODES if grace_seconds is None else POD_GARBAGE
        options = DeleteOptions(grace_seconds=grace_seconds, uid=pod["metadata"]["uid"])
        with forgiving_absence():
            self._api.delete(key_of("pods", pod), by, options)

    def _pods_on(self, node: str) -> list[JSON]:
        return [pod for pod in self._api.store.items("pods") if pod["spec"].get("nodeName") == node]


def _key(node: str) -> Key:
    return Key("nodes", "", node)
