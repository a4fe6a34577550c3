"""The kubelet's requests on their way to the sandbox's API: in order for each pod, a moment late.

The latencies are about those of a server on the same machine. Without them every pod of a
ReplicaSet would change in the same instant, which no controller ever sees.
"""

from __future__ import annotations

from collections import deque
from http import HTTPStatus
from typing import Final

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Writer
from sandbox.failure import ApiError
from sandbox.kubelet.requests import (
    Author,
    Bind,
    PodRef,
    Remove,
    ReportStatus,
    Request,
    WriteEvent,
)
from sandbox.storage.store import Key
from sandbox.times import Names, Timers

BIND_SECONDS: Final = 0.002
WRITE_SECONDS: Final = 0.003
SPREAD: Final = 0.5
"""A latency is between half as much less and half as much more."""

_MEANINGLESS: Final = {HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN}
"""The pod, or its namespace, is going: nothing is left to tell."""


class Outbox:
    """Sends the requests of every pod one after the other, as who asks for them."""

    def __init__(self, api: Api, timers: Timers, names: Names) -> None:
        self._api = api
        self._timers = timers
        self._names = names
        self._lanes: dict[str, deque[tuple[Request, Writer]]] = {}

    def put(self, request: Request, node: str) -> None:
        """Send a request of the kubelet on `node` after every earlier one of the same pod."""
        uid = request.pod.uid
        waits = uid in self._lanes
        self._lanes.setdefault(uid, deque()).append((request, _writer(request, node)))
        if not waits:
            self._send_later(uid)

    def _send_later(self, uid: str) -> None:
        first = self._lanes[uid][0][0]
        usual = BIND_SECONDS if isinstance(first, Bind) else WRITE_SECONDS
        seconds = usual * (1 - SPREAD + 2 * SPREAD * self._names.jitter())
        self._timers.call_later(seconds, lambda: self._send_next(uid))

    def _send_next(self, uid: str) -> None:
        lane = self._lanes[uid]
        request, by = lane.popleft()
        if lane:
            self._send_later(uid)
        else:
            del self._lanes[uid]
        try:
            self._send(request, by)
        except ApiError as error:
            if self._is_there(request.pod) and error.status not in _MEANINGLESS:
                raise

    def _is_there(self, pod: PodRef) -> bool:
        """Whether it still is that pod; else it has gone, and another may have its name."""
        live = self._api.store.get(pod_key(pod))
        return live is not None and live["metadata"]["uid"] == pod.uid

    def _send(self, request: Request, by: Writer) -> None:
        match request:
            case Bind(pod, node):
                self._api.bind(pod_key(pod), pod.uid, node, by)
            case ReportStatus(pod, body):
                patch = Patch(PatchType.STRATEGIC, body)
                self._api.patch(pod_key(pod), patch, by, subresource="status")
            case WriteEvent():
                self._write_event(request, by)
            case Remove(pod):
                options = DeleteOptions(grace_seconds=0, uid=pod.uid)
                self._api.delete(pod_key(pod), by, options)

    def _write_event(self, request: WriteEvent, by: Writer) -> None:
        key = Key("events", request.pod.namespace, request.event["metadata"]["name"])
        if request.again and self._api.store.get(key):
            self._api.patch(key, Patch(PatchType.MERGE, request.count_patch), by)
        else:
            self._api.create("events", key.namespace, request.event, by)


def node_writer(node: str) -> Writer:
    """Return who the kubelet of a node is."""
    return Writer(f"system:node:{node}", Author.KUBELET.value)


def pod_key(pod: PodRef) -> Key:
    """Return where a pod is."""
    return Key("pods", pod.namespace, pod.name)


def _writer(request: Request, node: str) -> Writer:
    author = Author.KUBELET
    match request:
        case Bind():
            author = Author.SCHEDULER
        case ReportStatus() | WriteEvent():
            author = request.author
    if author is Author.SCHEDULER:
        return Writer("system:kube-scheduler", author.value)
    return node_writer(node)
