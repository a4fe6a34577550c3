"""Events as a kubelet and a scheduler write them: said again, one event counts up."""

from __future__ import annotations

import hashlib

from tests.cluster.kubelet.api import JSON, MERGE_PATCH
from tests.cluster.kubelet.outbox import Request
from tests.cluster.kubelet.pod import Pod
from tests.cluster.kubelet.scripts import Note


class EventWriter:
    """Turns notes into requests; remembers what it said of each pod until `forget`."""

    def __init__(self, node_name: str) -> None:
        self._node_name = node_name
        self._counts: dict[str, dict[str, int]] = {}

    def request(self, pod: Pod, note: Note, wall: str) -> Request:
        """Return the request that says `note` of `pod`: a new event, or one more of the old."""
        digest = hashlib.sha256(f"{pod.uid}{note}".encode()).hexdigest()[:16]
        counts = self._counts.setdefault(pod.uid, {})
        counts[digest] = count = counts.get(digest, 0) + 1
        path = f"/api/v1/namespaces/{pod.namespace}/events"
        name = f"{pod.name}.{digest}"
        if count > 1:
            return Request(
                "PATCH", f"{path}/{name}", {"count": count, "lastTimestamp": wall}, MERGE_PATCH
            )
        return Request("POST", path, self._event(pod, note, name, wall))

    def forget(self, uid: str) -> None:
        """Drop what was said of a pod that has gone."""
        self._counts.pop(uid, None)

    def _event(self, pod: Pod, note: Note, name: str, wall: str) -> JSON:
        involved = {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
        }
        if note.container:
            involved["fieldPath"] = f"spec.containers{{{note.container}}}"
        component = "default-scheduler" if note.reason == "FailedScheduling" else "kubelet"
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": pod.namespace},
            "involvedObject": involved,
            "type": note.type,
            "reason": note.reason,
            "message": note.message,
            "source": {"component": component, "host": self._node_name},
            "reportingComponent": component,
            "reportingInstance": self._node_name,
            "count": 1,
            "firstTimestamp": wall,
            "lastTimestamp": wall,
        }
