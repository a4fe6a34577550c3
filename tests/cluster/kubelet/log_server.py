"""The part of a kubelet's own API that `kubectl logs` needs, over HTTPS on loopback.

`GET /containerLogs/NAMESPACE/POD/CONTAINER?previous=&tailLines=&limitBytes=&timestamps=`; other
options (`follow` among them) are taken and change nothing.
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

from tests.cluster.kubelet.logs import LogState, NoLogError

LINE_TIME = "2006-01-02T15:04:05.000000000Z"

FindLog = Callable[[str, str, str], LogState | None]


class LogServer(ThreadingHTTPServer):
    """Serves the logs that `find(namespace, pod, container)` knows, on a free port."""

    daemon_threads = True

    def __init__(self, certificate: Path, key: Path, find: FindLog) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.find = find
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
        state = self.server.find(namespace, pod, container)
        if state is None:
            return HTTPStatus.NOT_FOUND, f'pod "{pod}" not found'.encode()
        try:
            lines = state.lines(previous=options.get("previous") == "true")
        except NoLogError as error:
            return HTTPStatus.BAD_REQUEST, str(error).encode()
        return HTTPStatus.OK, _rendered(lines, options)

    def _answer(self, status: HTTPStatus, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as http.server's
        """Say nothing: the requests are in the API server's audit log."""


def _rendered(lines: list[str], options: dict[str, str]) -> bytes:
    if "tailLines" in options:
        count = int(options["tailLines"])
        lines = lines[-count:] if count else []
    if options.get("timestamps") == "true":
        lines = [f"{LINE_TIME} {line}" for line in lines]
    body = "".join(f"{line}\n" for line in lines).encode()
    return body[: int(options["limitBytes"])] if "limitBytes" in options else body
