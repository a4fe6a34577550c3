"""An endpoint for Prometheus to scrape during the run."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import MetricsHandler

from gate.metrics.exposition import Read, registry_of

PATH: Final = "/metrics"
_CLIENT_SECONDS: Final = 5.0
"""How long a client may take to send its request."""


class _Handler(MetricsHandler):
    timeout = _CLIENT_SECONDS
    server_version = "rollout-gate"
    sys_version = ""

    def do_GET(self) -> None:  # noqa: N802 - as http.server's
        """Serve the metrics' path; 404 for any other."""
        if urlsplit(self.path).path == PATH:
            super().do_GET()
        else:
            self.send_error(404)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, registry: CollectorRegistry) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), type("Handler", (_Handler,), {"registry": registry}))

    def serve(self, ending: socket.socket) -> None:
        """Accept clients, each in a thread of its own, until `ending` becomes readable."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.socket, selectors.EVENT_READ)
            selector.register(ending, selectors.EVENT_READ)
            while not any(key.fileobj is ending for key, _ in selector.select()):
                with contextlib.suppress(OSError):  # the client has already gone
                    self.process_request(*self.get_request())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that went away or broke off."""

    def server_bind(self) -> None:
        """Bind without the DNS lookup of the host's name that `HTTPServer` does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.socket.settimeout(0.0)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


@contextmanager
def listening(host: str, port: int, read: Read) -> Iterator[str]:
    """Serve what `read` returns, for the block; yield the URL. OSError if it cannot listen.

    A scrape never waits for the run, nor the end of the run for a scrape.
    """
    server = _Server(host, port, registry_of(read))
    ending, end = socket.socketpair()
    serving = threading.Thread(target=server.serve, args=(ending,), name="metrics", daemon=True)
    serving.start()
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_port}{PATH}"
    finally:
        end.close()
        serving.join()
        ending.close()
        server.server_close()
