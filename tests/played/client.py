"""The administrator's way to a sandbox, with the calls of `tests.cluster.kubelet.api.Api`."""

from __future__ import annotations

import http
import json
from collections.abc import Iterator
from contextlib import contextmanager

from gate.app.rehearsal.http_bridge import Growing, request_of
from gate.app.rehearsal.virtual_world import Played
from sandbox.face import Answer
from tests.cluster.kubelet.api import JSON, WATCH_IDLE_SECONDS, ApiError, message_of
from tests.cluster.objects import Client


class PlayedClient(Client):
    """One user of a sandbox; its waits let virtual time pass."""

    def __init__(self, played: Played, user_agent: str, token: str = "") -> None:
        """Ask as the administrator unless a token says otherwise."""
        self._played = played
        token = token or played.cluster.admin_token
        self._headers = {
            "user-agent": user_agent,
            "accept": "application/json",
            "authorization": f"Bearer {token}",
        }

    def text(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> str:
        """Send one request and return the answer's text."""
        content = b"" if body is None else json.dumps(body).encode()
        answer = self._answer(method, path, content, content_type)
        assert isinstance(answer.body, bytes)
        return answer.body.decode()

    @contextmanager
    def lines(
        self, path: str, idle_seconds: float = WATCH_IDLE_SECONDS
    ) -> Iterator[Iterator[bytes]]:
        """Open a watch: within the block, its lines come until the server ends it."""
        answer = self._answer("GET", path, b"", "")
        assert not isinstance(answer.body, bytes)
        body = Growing(answer.body)
        try:
            yield self._arriving(body, idle_seconds)
        finally:
            body.close()

    def _arriving(self, body: Growing, idle_seconds: float) -> Iterator[bytes]:
        rest = b""

        def has_come() -> bool:
            nonlocal rest
            rest += body.take()
            return b"\n" in rest or body.ended

        while True:
            if not self._played.clock.wait_until(has_come, idle_seconds):
                raise TimeoutError("the watch says nothing")
            *whole, rest = rest.split(b"\n")
            if not whole:
                return
            yield from whole

    def _answer(self, method: str, path: str, content: bytes, content_type: str) -> Answer:
        headers = {**self._headers, **({"content-type": content_type} if content else {})}
        answer = self._played.cluster.handle(request_of(method, path, headers, content))
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            assert isinstance(answer.body, bytes)
            raise ApiError(answer.status, message_of(answer.body))
        return answer
