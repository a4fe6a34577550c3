"""The way to a server in the same process: what the client's pool promises, without a socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
import urllib3

from gate.kube.client import Client
from gate.kube.failures import Forbidden, TimedOut, Unreachable
from gate.kube.in_process import Place, connection_to
from gate.virtual_time import VirtualClock

PLACE = Place("https://played", "played", "shop", "a-token")


class Bytes:
    """A body of which some is there, and more may come."""

    def __init__(self, *parts: bytes, ended: bool = True) -> None:
        self.parts = list(parts)
        self.closed = False
        self._ended = ended

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._ended and not self.parts

    def end(self) -> None:
        """Let nothing more come."""
        self._ended = True

    def take(self) -> bytes:
        """Return what has come."""
        return self.parts.pop(0) if self.parts else b""

    def close(self) -> None:
        """Note it."""
        self.closed = True


@dataclass(slots=True)
class Reply:
    """An answer."""

    body: Bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Server:
    """Answers with what it is given, and keeps what it was asked."""

    def __init__(self, *replies: Reply | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, str, Mapping[str, str], bytes]] = []

    def __call__(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        self.asked.append((method, target, headers, body))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def client_of(server: Server, clock: VirtualClock) -> Client:
    """Return the gate's client, connected to a server in this process."""
    return Client(connection_to(server, clock.wait_until, clock, PLACE), clock)


def test_a_request_arrives_whole() -> None:
    """Path, query, body, who asks and as which program: as they would go over the wire."""
    server, clock = Server(Reply(Bytes(b'{"kind"', b":1}"))), VirtualClock()
    client = client_of(server, clock)
    path = "/api/v1/namespaces/shop/configmaps"
    answer = client.write("POST", path, {"data": "\u00e9"}, (("fieldManager", "a b"),))
    assert answer.body == b'{"kind":1}'
    [(method, target, headers, body)] = server.asked
    assert (method, target) == ("POST", f"{path}?fieldManager=a%20b")
    assert headers["authorization"] == "Bearer a-token"
    assert headers["user-agent"].startswith("rollout-gate/")
    assert body == b'{"data": "\\u00e9"}'
    assert client.connection.namespace == "shop"


def test_a_refusal_is_what_it_is_over_the_wire() -> None:
    """Status and message become the same leaf of the error tree."""
    message = 'pods is forbidden: User \\"me\\" cannot list resource \\"pods\\"'
    status = f'{{"kind":"Status","reason":"Forbidden","code":403,"message":"{message}"}}'
    body = Bytes(status.encode())
    server = Server(Reply(body, 403, {"content-type": "application/json"}))
    with pytest.raises(Forbidden, match="cannot list"):
        client_of(server, VirtualClock()).get("/api/v1/pods")
    assert body.closed


def test_a_server_that_is_away_is_unreachable() -> None:
    """What the server's side raises is an error of the connection, and is tried again."""
    clock = VirtualClock()
    server = Server(ConnectionRefusedError("nobody"), Reply(Bytes(b"{}")))
    assert client_of(server, clock).get("/version") == b"{}"
    assert clock.now() > 0
    with pytest.raises(Unreachable):
        client_of(Server(ConnectionRefusedError("nobody")), clock).get("/version", once=True)


def test_silence_is_a_timeout() -> None:
    """An answer that does not come within the limit of the request, in the clock's time."""
    clock = VirtualClock()
    body = Bytes(ended=False)
    with pytest.raises(TimedOut):
        client_of(Server(Reply(body)), clock).get("/version", seconds=7.0, once=True)
    assert (clock.now(), body.closed) == (7.0, True)


def test_a_watch_is_read_as_it_grows() -> None:
    """Each part is had when it comes, the end is the end."""
    clock, body = VirtualClock(), Bytes(b"one\n", ended=False)
    seen: list[tuple[float, bytes]] = []
    response = client_of(Server(Reply(body)), clock).stream("/watch", (), 90.0)

    def read() -> None:
        while part := response.read1(100, decode_content=False):
            seen.append((clock.now(), part))

    ended = clock.start(read, "reader")
    clock.wait(5.0)
    body.parts.append(b"two\n")
    clock.wait(1.0)
    body.end()
    assert clock.wait(1.0, ended)
    assert seen == [(0.0, b"one\n"), (5.0, b"two\n")]
    clock.end()


def test_a_read_of_a_watch_can_be_ended() -> None:
    """`shutdown` lets a reader that waits find the end at once, as it does on a socket."""
    clock, body = VirtualClock(), Bytes(ended=False)
    response = client_of(Server(Reply(body)), clock).stream("/watch", (), 90.0)
    ended = clock.start(lambda: _drain(response), "reader")
    clock.wait(3.0)
    response.shutdown()
    assert clock.wait(1.0, ended)
    assert clock.now() == 3.0
    response.close()
    assert body.closed
    clock.end()


def _drain(response: urllib3.BaseHTTPResponse) -> None:
    while response.read1(100, decode_content=False):
        pass
