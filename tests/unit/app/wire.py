"""Two ways to the server in memory: by a call in the client's place, and by HTTP on loopback."""

from __future__ import annotations

import json
from typing import Any

import urllib3

from gate.kube.official import ApiException
from tests.unit.app.server import ApiServer, Lines
from tests.unit.kube.scripted import Answer, Drop, Hang, Reply, ScriptedServer, Seen, Stream

URL = "http://10.0.0.1:8080"


class ByCall:
    """Stands in for the official client: the same requests, answers and errors, no sockets."""

    def __init__(self, server: ApiServer) -> None:
        """Bring every request to `server`."""
        self._server = server

    def request(
        self,
        method: str,
        path: str,
        query: Any,
        body: Any,
        content_type: str,
        seconds: tuple[float, float],
    ) -> Any:
        """Return the answer's body to be read, or raise as the client does."""
        if self._server.gone.is_set():
            raise urllib3.exceptions.NewConnectionError(None, "connection refused")  # type: ignore[arg-type]
        sent = b"" if body is None else json.dumps(body).encode()
        headers = [("Content-Type", content_type)]
        seen = Seen(method, path, dict(query), headers, sent)
        match self._server.answer_to(seen):
            case Reply(status, body) if status >= 400:
                raise _error(status, body)
            case Reply(status, body):
                return _Body(iter([body]), status)
            case Stream(chunks):
                return _Body(chunks)
            case Drop():
                raise urllib3.exceptions.ProtocolError("reset by peer")
            case Hang():
                self._server.gone.wait(seconds[1])
                raise urllib3.exceptions.ReadTimeoutError(None, path, "timed out")  # type: ignore[arg-type]


def _error(status: int, body: bytes) -> ApiException:
    error: Any = ApiException(status=status)
    error.body, error.headers = body, {}
    raised: ApiException = error
    return raised


class _Body:
    """An answer that is read piece by piece."""

    def __init__(self, chunks: Any, status: int = 200) -> None:
        self.status = status
        self.headers: dict[str, str] = {}
        self._chunks = chunks

    def read1(self, _size: int, **_: bool) -> bytes:
        """Return the next piece, nothing at the end."""
        return next(self._chunks, b"")

    def close(self) -> None:
        """Let it be."""

    def shutdown(self) -> None:
        """End a watch, in the middle of a read too."""
        if isinstance(self._chunks, Lines):
            self._chunks.end()


class OverHttp(ScriptedServer):
    """Listens on loopback, for the program as a process of its own."""

    def __init__(self, server: ApiServer) -> None:
        """Serve what `server` answers."""
        self._api = server
        super().__init__()

    def answer_to(self, seen: Seen) -> Answer:
        """Ask the server in memory."""
        return self._api.answer_to(seen)
