"""The part of a kubelet's own API that `kubectl logs` needs, over HTTPS on loopback.

`GET /containerLogs/NAMESPACE/POD/CONTAINER` with the options of `pods/log`; `follow` is taken and
changes nothing.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sandbox.kubelet.logs import LogOptions, NoLogError

_NUMBERS = ("tailLines", "limitBytes")

ReadLog = Callable[[str, str, str, LogOptions], bytes | None]
"""Returns the log of a namespace's pod's container, None where there is none; `NoLogError`."""


class LogServer(ThreadingHTTPServer):
    """Serves the logs that `read` knows, on a free port."""

    daemon_threads = True

    def __init__(self, certificate: Path, key: Path, read: ReadLog) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.read = read
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, key)

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.server_address[1])

    def get_request(self) -> tuple[ssl.SSLSocket, Any]:
        """Accept a connection; its handshake happens in the thread that serves it."""
        connection, address = super().get_request()
        assert isinstance(connection, socket.socket)
        return self._context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        ), address


class _Handler(BaseHTTPRequestHandler):
    server: LogServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        match [unquote(part) for part in parts.path.split("/")]:
            case ["", "containerLogs", namespace, pod, container]:
                options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                self._answer(*self._log(namespace, pod, container, options))
            case _:
                self._answer(HTTPStatus.NOT_FOUND, b"no such page")

    def _log(
        self, namespace: str, pod: str, container: str, options: dict[str, str]
    ) -> tuple[HTTPStatus, bytes]:
        try:
            log = self.server.read(namespace, pod, container, _options(options))
        except NoLogError as error:
            return HTTPStatus.BAD_REQUEST, str(error).encode()
        if log is None:
            return HTTPStatus.NOT_FOUND, f'pod "{pod}" not found'.encode()
        return HTTPStatus.OK, log

    def _answer(self, status: HTTPStatus, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as http.server's
        """Say nothing: the requests are in the API server's audit log."""


def _options(query: dict[str, str]) -> LogOptions:
    numbers = {name: int(query[name]) for name in _NUMBERS if name in query}
    return LogOptions(
        previous=query.get("previous") == "true",
        tail_lines=numbers.get("tailLines"),
        limit_bytes=numbers.get("limitBytes"),
        timestamps=query.get("timestamps") == "true",
    )
