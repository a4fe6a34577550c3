"""The kubelet itself: the sandbox's pod workers behind a watch, an outbox and one thread.

One thread owns every pod and the clock, and never waits for the network: changes come in through
the agenda, requests leave through the outbox.
"""

from __future__ import annotations

import threading

from sandbox.kubelet.logs import LogOptions
from sandbox.kubelet.requests import Request
from sandbox.kubelet.states import Pace
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
        self._watch = Watch(api, "/api/v1/pods", self._hear, selector)
        self._outbox = Outbox(api)
        self._workers = PodWorkers(self._agenda.timers, self._send, (node_name,), Pace.SHORT)

    def run(self) -> None:
        """Play pods until `stop` is called."""
        self._outbox.start()
        threading.Thread(target=self._watch.run, name="watch", daemon=True).start()
        self._agenda.run()

    def stop(self) -> None:
        """Let `run` return; for other threads and signal handlers."""
        self._watch.stop()
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

    def _send(self, request: Request, _node_name: str) -> None:
        self._outbox.put(request.pod.uid, as_http(request))
