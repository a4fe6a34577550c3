"""The metrics of every pod of a cluster, served on loopback as if the pods themselves did.

Pods come and go with the cluster's: a pod is asked while it is ready and not going away, and its
series end with it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.cluster.kubelet.api import Api
from tests.cluster.kubelet.watch import Change, ChangeKind, Watch
from tests.cluster.objects import is_ready
from tests.engines.traffic import Counted, Load, Traffic


class Application:
    """What is scraped: `target` is its `HOST:PORT`."""

    def __init__(self, api: Api) -> None:
        """Take the cluster whose pods it plays."""
        self._traffic = Traffic()
        self._server = _Exporter(self._traffic)
        self._watch = Watch(api, "/api/v1/pods", self._take)

    @property
    def target(self) -> str:
        """Where it is scraped."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve within the block; the watch's thread ends with the process."""
        threading.Thread(target=self._watch.run, name="application", daemon=True).start()
        serving = threading.Thread(target=self._server.serve_forever, daemon=True)
        serving.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            serving.join()

    def direct(self, namespace: str, image: str, load: Load) -> None:
        """Ask each serving pod of a version that much from now on."""
        self._traffic.direct(namespace, image, load)

    def ask_at_once(self, namespace: str, image: str, load: Load) -> None:
        """Ask each serving pod of a version what the load asks in a second, in no time."""
        self._traffic.ask_at_once(namespace, image, load)

    def restart(self, namespace: str, image: str) -> None:
        """Let the process of each pod of a version begin again: its counters begin at 0."""
        self._traffic.restart(namespace, image)

    def counted(self, namespace: str, image: str) -> Counted:
        """Return what all pods of a version have counted since they were there."""
        return self._traffic.counted(namespace, image)

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        """Answer no scrape within the block; what is asked of the pods goes on."""
        self._server.is_reachable = False
        try:
            yield
        finally:
            self._server.is_reachable = True

    def _take(self, change: Change) -> None:
        metadata, spec = change.object["metadata"], change.object["spec"]
        if change.kind is ChangeKind.GONE:
            self._traffic.forget(metadata["uid"])
            return
        pod = (metadata["namespace"], metadata["name"], spec["containers"][0]["image"])
        serving = is_ready(change.object) and "deletionTimestamp" not in metadata
        self._traffic.see(metadata["uid"], pod, serving=serving)


class _Exporter(ThreadingHTTPServer):
    """Serves `/metrics`, and the same for every other path."""

    daemon_threads = True

    def __init__(self, traffic: Traffic) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.traffic = traffic
        self.is_reachable = True


class _Handler(BaseHTTPRequestHandler):
    server: _Exporter
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self.server.is_reachable:
            self.send_error(503)
            return
        body = self.server.traffic.exposition().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as http.server's
        """Say nothing: a scrape each second is no news."""
