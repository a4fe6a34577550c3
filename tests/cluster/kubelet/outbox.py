"""Requests on their way to the API server: in order for each pod, and patient while it is away."""

from __future__ import annotations

import http.client
import logging
import queue
import threading
import time
import zlib
from dataclasses import dataclass
from http import HTTPStatus

from sandbox.kubelet.requests import Author, Bind, PodRef, Remove, ReportStatus, WriteEvent
from sandbox.kubelet.requests import Request as PodRequest
from tests.cluster.kubelet.api import JSON, MERGE_PATCH, STRATEGIC_PATCH, Api, ApiError

LANES = 4
CONFLICT_ATTEMPTS = 5
AWAY_SECONDS = 0.2

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the API server, ready to be sent."""

    method: str
    path: str
    body: JSON
    content_type: str = "application/json"


def as_http(asked: PodRequest) -> Request:
    """Return a request of the kubelet as the API server takes it."""
    pods = f"/api/v1/namespaces/{asked.pod.namespace}/pods/{asked.pod.name}"
    match asked:
        case Bind(pod, node):
            return Request("POST", f"{pods}/binding", _binding(pod, node))
        case ReportStatus(_, body, author):
            return Request("PATCH", f"{pods}/status{_by(author)}", body, STRATEGIC_PATCH)
        case WriteEvent():
            return _event(asked)
        case Remove(pod):
            return Request(
                "DELETE", pods, {"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid}}
            )


def _binding(pod: PodRef, node: str) -> JSON:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "uid": pod.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def _event(asked: WriteEvent) -> Request:
    path = f"/api/v1/namespaces/{asked.pod.namespace}/events"
    if asked.again:
        named = f"{path}/{asked.event['metadata']['name']}{_by(asked.author)}"
        return Request("PATCH", named, asked.count_patch, MERGE_PATCH)
    return Request("POST", f"{path}{_by(asked.author)}", asked.event)


def _by(author: Author) -> str:
    return f"?fieldManager={author.value}"


class Outbox:
    """A few lanes, each a thread with a connection; requests of one key share a lane."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._lanes: list[queue.SimpleQueue[Request]] = []

    def start(self) -> None:
        """Start the lanes; they end with the process."""
        for number in range(LANES):
            lane: queue.SimpleQueue[Request] = queue.SimpleQueue()
            self._lanes.append(lane)
            name = f"lane-{number}"
            threading.Thread(target=self._drain, args=(lane,), name=name, daemon=True).start()

    def put(self, key: str, request: Request) -> None:
        """Send `request` after every earlier one of the same key."""
        self._lanes[zlib.crc32(key.encode()) % LANES].put(request)

    def _drain(self, lane: queue.SimpleQueue[Request]) -> None:
        while True:
            self._send(lane.get())

    def _send(self, request: Request) -> None:
        """Send until the server has said yes or no; an object that has gone is a no like others."""
        conflicts = 0
        while True:
            try:
                self._api.text(request.method, request.path, request.body, request.content_type)
            except ApiError as error:
                conflicts += error.status == HTTPStatus.CONFLICT
                if not _may_pass(error.status) or conflicts == CONFLICT_ATTEMPTS:
                    log.info("%s %s: %s", request.method, request.path, error)
                    return
            except (OSError, http.client.HTTPException) as error:
                log.warning("%s %s: %r", request.method, request.path, error)
            else:
                return
            time.sleep(AWAY_SECONDS if not conflicts else 0)


def _may_pass(status: int) -> bool:
    """Whether the same request may be answered otherwise a moment later."""
    passing = {HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
    return status in passing or status >= HTTPStatus.INTERNAL_SERVER_ERROR
