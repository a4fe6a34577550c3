"""A tiny server behind a proxy, and a client that says what came, byte for byte."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cluster.access import Certificate, self_signed
from tests.faults.proxy import Proxy
from tests.faults.script import Rule, Script

PODS = "/api/v1/namespaces/shop/pods"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
LINES = b'{"number":1}\n{"number":2}\n{"number":3}\n{"number":4}\n'


class Tiny(ThreadingHTTPServer):
    """A server that tells what it was asked; `heard` are methods and targets in their order."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.certificate, certificate.key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.heard: list[tuple[str, str, bytes]] = []
        self.url = f"https://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Tiny

    def do_GET(self) -> None:
        """Tell the target and the token; a watch has four lines."""
        is_watch = "watch=" in self.path
        request = {"target": self.path, "token": self.headers.get("Authorization", "")}
        self._answer(LINES if is_watch else json.dumps(request).encode(), b"")

    def do_PATCH(self) -> None:
        """Tell the body back."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(body, body)

    def _answer(self, content: bytes, body: bytes) -> None:
        self.server.heard.append((self.command, self.path, body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


@dataclass(frozen=True, slots=True)
class Client:
    """Asks a proxy, over a new connection each time."""

    proxy: Proxy

    @contextmanager
    def asking(
        self, method: str, target: str, body: bytes = b""
    ) -> Iterator[http.client.HTTPConnection]:
        """Send a request; within the block its answer is to be had."""
        context = ssl.create_default_context(cafile=self.proxy.certificate.certificate)
        host = self.proxy.url.removeprefix("https://")
        connection = http.client.HTTPSConnection(host, context=context, timeout=10)
        try:
            connection.request(method, target, body or None, {"Authorization": "Bearer sesame"})
            yield connection
        finally:
            connection.close()

    def __call__(
        self, method: str, target: str, body: bytes = b""
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Return status, headers and body of the answer; OSError or HTTPException without one."""
        with self.asking(method, target, body) as connection:
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()


@dataclass(frozen=True, slots=True)
class Stage:
    """A server, a proxy with a script in front of it, a client, and how long it has delayed."""

    server: Tiny
    proxy: Proxy
    ask: Client
    slept: list[float]


Staged = Callable[..., Stage]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Return a certificate for loopback."""
    return self_signed(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def stage(certificate: Certificate) -> Iterator[Staged]:
    """Return a maker of stages: `stage(*rules)`."""
    with ExitStack() as stack:

        def make(*rules: Rule, seed: int = 0) -> Stage:
            server = Tiny(certificate)
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            slept: list[float] = []

            async def sleep(seconds: float) -> None:
                slept.append(seconds)
                await asyncio.sleep(0)

            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            proxy = Proxy(server.url, certificate.certificate, certificate, sleep)
            stack.enter_context(proxy)
            proxy.play(Script(rules, seed=seed))
            return Stage(server, proxy, Client(proxy), slept)

        yield make
