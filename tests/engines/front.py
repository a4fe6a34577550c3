"""A server between the gate and an engine: it passes queries on, holds some, or answers itself."""

from __future__ import annotations

import http.client
import select
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

LOOK_SECONDS = 0.05
ENGINE_SECONDS = 30.0


@dataclass(slots=True)
class Asked:
    """One query that came: when it was asked and when its connection was done, None until then."""

    query: str
    headers: dict[str, str]
    began_at: datetime
    ended_at: datetime | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    def end(self) -> None:
        """Note that it is done."""
        self.ended_at = datetime.now(UTC)
        self._ended.set()

    def wait_for_end(self) -> datetime:
        """Return when it was done, as soon as it is; `TimeoutError`."""
        if not self._ended.wait(ENGINE_SECONDS) or self.ended_at is None:
            raise TimeoutError(f"{self.query} is still under way")
        return self.ended_at


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the front's own; `body` may go on for ever."""

    status: int
    body: Iterable[bytes] = ()
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


Answer = Callable[[Asked], Reply | None]
"""Gives the front's own answer, or None where the engine is to answer."""


class Front:
    """Listens on loopback at `url`; `asked` is all that came, in its order."""

    def __init__(self, engine: str = "", answer: Answer = lambda _: None) -> None:
        """Take the URL of the engine behind it, and what it answers itself."""
        self.asked: list[Asked] = []
        self._engine = urlsplit(engine)
        self._answer = answer
        self._held: tuple[str, int] | None = None
        self._released = threading.Event()
        self._server = _Server(self._respond)

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve within the block; what is still held is let go at its end."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._released.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def hold(self, text: str, after: int) -> None:
        """Answer the first `after` queries that contain `text`, and none that comes later."""
        self._held = (text, after)

    def queries(self, text: str = "") -> list[Asked]:
        """Return what was asked with `text` in it."""
        return [each for each in list(self.asked) if text in each.query]

    def _respond(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        query = parse_qs(content.decode()).get("query", [""])[0]
        asked = Asked(query, dict(handler.headers), datetime.now(UTC))
        self.asked.append(asked)
        try:
            if self._holds(asked) and self._wait(handler.connection):
                return
            own = self._answer(asked)
            _send(handler, own if own is not None else self._passed_on(handler, content))
        except (BrokenPipeError, ConnectionResetError):
            pass  # The gate does not wait for ever; when it left is noted below.
        finally:
            asked.end()

    def _holds(self, asked: Asked) -> bool:
        if self._held is None:
            return False
        text, after = self._held
        return any(each is asked for each in self.queries(text)[after:])

    def _wait(self, connection: socket.socket) -> bool:
        """Wait for the release; return whether the client went away before it."""
        while not self._released.wait(LOOK_SECONDS):
            readable, _, _ = select.select([connection], [], [], 0)
            if readable and not connection.recv(1, socket.MSG_PEEK):
                return True
        return False

    def _passed_on(self, handler: BaseHTTPRequestHandler, content: bytes) -> Reply:
        host, port = self._engine.hostname or "", self._engine.port
        connection = http.client.HTTPConnection(host, port, timeout=ENGINE_SECONDS)
        try:
            headers = {"Content-Type": handler.headers.get("Content-Type", "")}
            connection.request(handler.command, handler.path, content, headers)
            response = connection.getresponse()
            kind = {"Content-Type": response.headers.get("Content-Type", "")}
            return Reply(response.status, [response.read()], kind)
        finally:
            connection.close()


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    handler.send_response(reply.status)
    for name, value in {**reply.headers, "Connection": "close"}.items():
        handler.send_header(name, value)
    handler.end_headers()
    for piece in reply.body:
        handler.wfile.write(piece)
    handler.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, respond: Callable[[BaseHTTPRequestHandler], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond = respond


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.server.respond(self)

    def do_GET(self) -> None:
        self.server.respond(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as http.server's
        """Say nothing: the test reads what was asked."""
