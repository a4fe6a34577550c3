"""The kubelet itself: the sandbox's pod workers behind a watch, an outbox and one thread.

One thread owns every pod and the clock, and never waits for the network: changes come in through
the agenda, requests leave through the outbox.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from sandbox.kubelet.container import Pace
from sandbox.kubelet.logs import LogOptions
from sandbox.kubelet.requests import Request
from sandbox.kubelet.workers import PodWorkers
from tests.cluster.kubelet.agenda import Agenda
from tests.cluster.kubelet.api import Api
from tests.cluster.kubelet.outbox import Outbox, as_http
from tests.cluster.kubelet.watch import Change, ChangeKind, Watch


class Kubelet:
    """Plays every pod of the cluster, or only those that ask for `scheduler_name`."""

    def __init__(self, api: Api, node_name: str, scheduler_name: str = "") -> None:
        self._agenda = Agenda()
        selector = f"spec.schedulerName={scheduler_name}" if scheduler_name else ""
        self._watches = {
            "pods": Watch(api, "/api/v1/pods", self._hear, selector),
            "nodes": Watch(api, "/api/v1/nodes", self._hear_node),
        }
        self._hear_too: Callable[[Change], None] = lambda _: None
        self._outbox = Outbox(api)
        self._workers = PodWorkers(self._agenda.timers, self._send, (node_name,), Pace.SHORT)

    def run(self, hear_node: Callable[[Change], None]) -> None:
        """Play pods until `stop` is called; `hear_node` is told of each change of a Node, too."""
        self._hear_too = hear_node
        self._outbox.start()
        for name, watch in self._watches.items():
            threading.Thread(target=watch.run, name=f"watch-{name}", daemon=True).start()
        self._agenda.run()

    def stop(self) -> None:
        """Let `run` return; for other threads and signal handlers."""
        for watch in self._watches.values():
            watch.stop()
        self._agenda.stop()

    def read_log(
        self, namespace: str, pod: str, container: str, options: LogOptions
    ) -> bytes | None:
        """Return a container's log, None where there is none; NoLogError as a kubelet refuses."""

        def read() -> bytes | None:
            state = self._workers.log(namespace, pod, container)
            return state.read(options) if state else None

        return self._agenda.ask(read)

    def _hear(self, change: Change) -> None:
        take = self._workers.lose if change.kind is ChangeKind.GONE else self._workers.see
        self._agenda.put(lambda: take(change.object))

    def _hear_node(self, change: Change) -> None:
        is_gone = change.kind is ChangeKind.GONE
        take = self._workers.lose_node if is_gone else self._workers.see_node
        self._agenda.put(lambda: take(change.object))
        self._hear_too(change)

    def _send(self, request: Request, _node_name: str) -> None:
        self._outbox.put(request.pod.uid, as_http(request))
