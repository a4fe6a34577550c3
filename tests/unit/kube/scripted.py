"""A scripted API server on loopback: it answers what a test tells it to, and remembers."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the first header of that name."""
        return next((v for k, v in self.headers if k.lower() == name.lower()), None)

    def json(self) -> Any:
        """Return the body."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """An answer with a length; `before_body` is called between its head and its body."""

    status: int = 200
    body: bytes = b"{}"
    headers: Headers = field(default_factory=dict)
    before_body: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Stream:
    """A chunked answer: its chunks, then an orderly end, a cut, or silence."""

    chunks: Sequence[bytes] = ()
    then: str = "end"
    status: int = 200


@dataclass(frozen=True)
class Hang:
    """No answer at all."""


@dataclass(frozen=True)
class Drop:
    """The connection ends without an answer."""


Answer = Reply | Stream | Hang | Drop


def as_json(document: Any, status: int = 200, **headers: str) -> Reply:
    """Return a JSON answer; underscores in header names stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = {"Content-Type": "application/json"}
    return Reply(status, json.dumps(document).encode(), content | named)


def as_status(code: int, message: str = "", reason: str = "", **details: Any) -> Reply:
    """Return a `Status` as the API server sends it."""
    document = {"kind": "Status", "code": code, "message": message, "reason": reason}
    return as_json(document | {"details": details}, code)


def a_list(*items: Any, version: str = "100", following: str = "") -> Reply:
    """Return a list, or one page of it."""
    meta = {"resourceVersion": version} | ({"continue": following} if following else {})
    return as_json({"metadata": meta, "items": list(items)})


def a_line(kind: str, thing: Any) -> bytes:
    """Return one line of a watch."""
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


class ScriptedServer:
    """Answers by the script; the last answer of a path is given again and again.

    A path without a script is answered by 404. `on_request` is called with every request.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Listen on a free port."""
        self.seen: list[Seen] = []
        self.connections = 0
        self.released = threading.Event()
        self.on_request: Callable[[Seen], None] = lambda _: None
        self._script: dict[tuple[str, str], list[Answer]] = {}
        self._server = _Listener(self, tls)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def on(self, method: str, path: str, *answers: Answer) -> None:
        """Script the answers to a method and path, in order."""
        self._script[(method, path)] = list(answers)

    def asked(self, path: str) -> list[Seen]:
        """Return the requests to a path."""
        return [seen for seen in self.seen if seen.path == path]

    def close(self) -> None:
        """End it, and everybody who waits for an answer."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer_to(self, seen: Seen) -> Answer:
        """Take the next answer of the script."""
        self.seen.append(seen)
        self.on_request(seen)
        answers = self._script.get((seen.method, seen.path))
        if not answers:
            return as_status(404, f"nothing is scripted for {seen.method} {seen.path}", "NotFound")
        return answers.pop(0) if len(answers) > 1 else answers[0]


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, script: ScriptedServer, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        if tls is not None:
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def setup(self) -> None:
        self.server.script.connections += 1
        super().setup()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _any(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(parse_qsl(parts.query))
        seen = Seen(self.command, parts.path, query, self.headers.items(), body)
        match self.server.script.answer_to(seen):
            case Reply() as answer:
                self._reply(answer)
            case Stream() as answer:
                self._stream(answer)
            case Hang():
                self._wait()
            case Drop():
                self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815 - names of the base class

    def _reply(self, answer: Reply) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.flush()
        answer.before_body()
        self.wfile.write(answer.body)

    def _stream(self, answer: Stream) -> None:
        self.send_response(answer.status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in answer.chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        if answer.then == "silence":
            self._wait()
        elif answer.then == "cut":
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self) -> None:
        self.server.script.released.wait()
        self.close_connection = True


def serving(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """Serve until the test is over."""
    server = ScriptedServer(tls)
    try:
        yield server
    finally:
        server.close()
