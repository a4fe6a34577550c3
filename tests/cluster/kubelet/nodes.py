"""All nodes that the kubelet plays: its own, and those whose objects ask for it."""

from __future__ import annotations

import http.client
import logging
import queue
import time
from collections.abc import Callable, Iterator

from sandbox.kubelet.nodes import NodeState, asked_state
from tests.cluster.kubelet.api import Api, ApiError
from tests.cluster.kubelet.node import Node
from tests.cluster.kubelet.watch import Change, ChangeKind

RENEW_SECONDS = 1.0

log = logging.getLogger(__name__)


class Nodes:
    """Reports each node as it is asked to be and renews its lease, in the thread of `run`."""

    def __init__(self, api: Api, log_port: int, own: Node) -> None:
        self._api = api
        self._log_port = log_port
        self._nodes = {own.name: own}
        self._states = {own.name: NodeState.READY}
        self._unreported: set[str] = set()
        self._heard: queue.SimpleQueue[Change] = queue.SimpleQueue()

    def hear(self, change: Change) -> None:
        """Take notice of a Node that is there, has changed or is gone; for any thread."""
        self._heard.put(change)

    def run(self) -> None:
        """Do what is asked of the nodes, for a thread that ends with the process."""
        while True:
            renew_at = time.monotonic() + RENEW_SECONDS
            for change in self._until(renew_at):
                self._take(change)
                self._report()
            self._report()
            for name in self._living():
                _send(self._nodes[name].renew)

    def _until(self, at: float) -> Iterator[Change]:
        while (seconds := at - time.monotonic()) > 0:
            try:
                yield self._heard.get(timeout=seconds)
            except queue.Empty:
                return

    def _take(self, change: Change) -> None:
        name, asked = change.object["metadata"]["name"], asked_state(change.object)
        if change.kind is ChangeKind.GONE:
            self._nodes.pop(name, None)
            self._states.pop(name, None)
            self._unreported.discard(name)
        elif asked is not None and self._states.get(name) is not asked:
            self._nodes.setdefault(name, Node(self._api, name, self._log_port))
            self._states[name] = asked
            self._unreported.add(name)

    def _report(self) -> None:
        """Report what has changed; what the server does not take is reported again."""
        for name in sorted(self._unreported):
            if self._is_reported(self._nodes[name], self._states[name]):
                self._unreported.discard(name)

    def _is_reported(self, node: Node, state: NodeState) -> bool:
        if state is NodeState.DEAD:
            return True
        return _send(node.renew) and _send(lambda: node.report(is_ready=state is NodeState.READY))

    def _living(self) -> list[str]:
        return [name for name, state in self._states.items() if state is not NodeState.DEAD]


def _send(request: Callable[[], None]) -> bool:
    """Whether the server took a request; one that it did not take is told of in the log."""
    try:
        request()
    except (ApiError, OSError, http.client.HTTPException) as error:
        log.warning("a node: %r", error)
        return False
    return True
