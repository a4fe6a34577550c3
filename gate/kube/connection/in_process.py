"""A way to an API server in the same process: the official client's pool, without a socket.

Everything above the pool is what talks to a real server: requests, limits, retries, watches.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol
from urllib.parse import urlsplit

import urllib3

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.kube.connection.api import Api
from gate.kube.connection.connection import Connection, configuration_of
from gate.kube.connection.credentials import Credential, Credentials, Fixed


class Body(Protocol):
    """An answer's bytes as they come: an endless one has more later."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""

    def take(self) -> bytes:
        """Return what has come, b"" if nothing has."""

    def close(self) -> None:
        """Say that nobody reads any more."""


class Reply(Protocol):
    """What a server answers."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Names of any case."""

    @property
    def body(self) -> Body:
        """What is to be read."""


Serve = Callable[[str, str, Mapping[str, str], bytes], Reply]
"""Answers a request: method, path with query, headers with lower-case names, body."""

WaitUntil = Callable[[Callable[[], bool], float], bool]
"""Waits for a condition, at most so many seconds; tells whether it came true."""


class Pool:
    """What the official client uses in place of `urllib3.PoolManager`."""

    def __init__(self, serve: Serve, wait_until: WaitUntil) -> None:
        """Take the server, and how a reader waits for it."""
        self._serve = serve
        self._wait_until = wait_until

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        timeout: urllib3.Timeout | None = None,
        **_: Any,
    ) -> urllib3.HTTPResponse:
        """Send a request, and return an answer that is still to be read."""
        sent = {name.lower(): value for name, value in (headers or {}).items()}
        content = body.encode() if isinstance(body, str) else body or b""
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        try:
            reply = self._serve(method, target, sent, content)
        except ConnectionRefusedError as error:
            # urllib3, too, tells what never reached a server from what broke on the way.
            raise urllib3.exceptions.NewConnectionError(self, str(error)) from error  # type: ignore[arg-type]
        seconds = timeout.read_timeout if timeout is not None else None
        stream = _Stream(reply.body, self._wait_until, seconds or math.inf)
        return urllib3.HTTPResponse(
            body=stream,
            headers=dict(reply.headers),
            status=reply.status,
            preload_content=False,
            request_method=method,
            connection=stream,  # type: ignore[arg-type]  # something to be closed and shut down
            sock_shutdown=stream.shutdown,
        )

    def clear(self) -> None:
        """Close nothing: there are no connections."""


class _Stream(io.RawIOBase):
    """An answer's body as a file; reading waits as long as the request's limit says."""

    def __init__(self, body: Body, wait_until: WaitUntil, seconds: float) -> None:
        self._body = body
        self._wait_until = wait_until
        self._seconds = seconds
        self._shut = False
        self._rest = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def shutdown(self, _how: int) -> None:
        """Let a waiting reader find the end, as on a socket."""
        self._shut = True

    def settimeout(self, seconds: float) -> None:
        """Let a read wait that long, as on a socket."""
        self._seconds = seconds

    def read1(self, size: int = -1, /) -> bytes:
        """Return what has come, b"" at the end; TimeoutError if nothing comes."""
        if not self._has_arrived() and not self._wait_until(self._has_arrived, self._seconds):
            raise TimeoutError("the server says nothing")
        data = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(data) :]
        return data

    def readinto(self, buffer: Any, /) -> int:
        """Read as files do."""
        data = self.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Tell the server that nobody reads any more."""
        if not self.closed:
            self._body.close()
        super().close()

    def _has_arrived(self) -> bool:
        """Whether a read would return at once."""
        if not self._rest and not self._shut:
            self._rest = self._body.take()
        return bool(self._rest) or self._shut or self._body.ended


@dataclass(frozen=True, slots=True)
class Place:
    """Where a connection leads, and what proves who we are there.

    `server` and `context` are names for people; nothing is looked up by them.
    """

    server: str
    context: str
    namespace: str
    token: str = field(repr=False)


def connection_to(serve: Serve, wait_until: WaitUntil, clock: Clock, place: Place) -> Connection:
    """Return a connection to a server in this process."""
    credential = Credential(f"Bearer {place.token}")
    configuration = configuration_of(place.server)
    configuration.api_key["BearerToken"] = credential.authorization
    api = Api(configuration, [])
    api.rest_client.pool_manager = Pool(serve, wait_until)  # type: ignore[assignment]
    return Connection(
        api,
        Credentials(Fixed(credential), clock),
        place.server,
        place.context,
        place.namespace,
        user=place.context,
        jitter=lambda: 0.5,  # the same run makes the same pauses
    )
