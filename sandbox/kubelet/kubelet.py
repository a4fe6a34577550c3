"""The sandbox's kubelets and scheduler in process: pods are bound, run as asked and report it.

What they hear and write comes a few milliseconds late, as over a wire on one machine: four healthy
pods are available within 0.1 s of their Deployment.
"""

from __future__ import annotations

from collections import deque
from http import HTTPStatus
from typing import Final

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Writer
from sandbox.controllers.nodes import NodeController
from sandbox.failure import ApiError, bad_request, not_found
from sandbox.json import JSON
from sandbox.kubelet.behaviour import Source, container_names
from sandbox.kubelet.container import Pace
from sandbox.kubelet.logs import LogOptions, NoLogError
from sandbox.kubelet.nodes import NodeState, asked_state, node, node_status
from sandbox.kubelet.requests import Author, Bind, PodRef, Remove, ReportStatus, Request, WriteEvent
from sandbox.kubelet.workers import PodWorkers
from sandbox.storage.store import Change, Key
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


HEAR_SECONDS: Final = 0.001
NODES: Final = ("sandbox-0",)


class Kubelet:
    """Plays every pod of the cluster on nodes of these names, and on those that join as asked."""

    def __init__(
        self,
        api: Api,
        timers: Timers,
        names: Names,
        *,
        nodes: tuple[str, ...] = NODES,
        pace: Pace = Pace.NODE,
    ) -> None:
        self._api = api
        self._timers = timers
        self._nodes = nodes
        self._outbox = Outbox(api, timers, names)
        self._workers = PodWorkers(timers, self._outbox.put, nodes, pace)
        self._lifecycle = NodeController(api)

    def start(self) -> None:
        """Register the nodes, take on the pods that are there, listen for more."""
        for name in self._nodes:
            self._register(name)
        self._api.store.listen("nodes", self._hear_node)
        self._api.store.listen("pods", self._hear)
        for pod in self._api.store.items("pods"):
            self._workers.see(pod)

    def follow(self, source: Source) -> None:
        """Ask `source` from now on what pods do that do not say it by annotation."""
        self._workers.follow(source)

    def reconsider(self) -> None:
        """Ask the source again: what it says has changed."""
        self._workers.reconsider()

    def evict(self, namespace: str, name: str) -> None:
        """Evict a pod for its node's lack of memory: it fails, and is there still."""
        self._workers.evict(namespace, name)

    def log(
        self, namespace: str, pod: str, container: str = "", options: LogOptions | None = None
    ) -> bytes:
        """Return a container's log as `GET pods/log` does; ApiError (400, 404) as it refuses."""
        item = self._api.get(Key("pods", namespace, pod))
        name = _container(item, container)
        if not item["spec"].get("nodeName"):
            return b""
        state = self._workers.log(namespace, pod, name)
        if state is None:
            raise not_found("pods", "", pod)
        try:
            return state.read(options or LogOptions())
        except NoLogError as error:
            raise bad_request(str(error)) from error

    def _register(self, name: str) -> None:
        self._api.create("nodes", "", node(name), node_writer(name))
        self._report(name, is_ready=True)

    def _report(self, name: str, *, is_ready: bool) -> None:
        key = Key("nodes", "", name)
        status = node_status(self._timers.wall(), is_ready=is_ready)
        patch = Patch(PatchType.MERGE, {"status": status})
        self._api.patch(key, patch, node_writer(name), subresource="status")
        if is_ready:
            self._lifecycle.admit(name)

    def _hear_node(self, change: Change) -> None:
        """Listen to the store: play a node as it asks from now on, let one go that is deleted."""
        before, after = change.before, change.after
        if after is None:
            gone = before or {}
            self._timers.call_later(HEAR_SECONDS, lambda: self._lose_node(gone))
        elif (asked := asked_state(after)) and (before is None or asked_state(before) != asked):
            self._timers.call_later(HEAR_SECONDS, lambda: self._play_node(after, asked))

    def _lose_node(self, item: JSON) -> None:
        self._workers.lose_node(item)
        self._lifecycle.collect(item["metadata"]["name"])

    def _play_node(self, item: JSON, asked: NodeState) -> None:
        self._workers.see_node(item)
        name = item["metadata"]["name"]
        if self._api.store.get(Key("nodes", "", name)) is None:
            return
        if asked is NodeState.DEAD:
            self._lifecycle.miss(name)
        else:
            self._report(name, is_ready=asked is NodeState.READY)

    def _hear(self, change: Change) -> None:
        """Listen to the store: writes nothing, and leaves out what only this kubelet changed."""
        before, after = change.before, change.after
        if after is None:
            gone = before or {}
            self._timers.call_later(HEAR_SECONDS, lambda: self._workers.lose(gone))
        elif before is None or _concerns(before["metadata"], after["metadata"]):
            self._timers.call_later(HEAR_SECONDS, lambda: self._workers.see(after))


def _concerns(before: JSON, after: JSON) -> bool:
    names = ("annotations", "deletionTimestamp", "finalizers", "uid")
    return any(before.get(name) != after.get(name) for name in names)


def _container(pod: JSON, asked: str) -> str:
    """Return the container whose log is meant; 400 where that is not clear."""
    name = pod["metadata"]["name"]
    if asked:
        if asked not in container_names(pod):
            raise bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    main = [each["name"] for each in pod["spec"]["containers"]]
    if len(main) == 1:
        return str(main[0])
    init = [each["name"] for each in pod["spec"].get("initContainers", ())]
    there = " ".join((*init, *main))
    raise bad_request(
        f"a container name must be specified for pod {name}, choose one of: [{there}]"
    )
