"""The way to a server in the same process: its faults are those of a connection.

What a good server answers, scenarios on the sandbox show with every request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from gate.kube.answers.failures import TimedOut, Unreachable
from gate.kube.client.client import Client
from gate.kube.connection.in_process import Place, connection_to
from gate.virtual_time import VirtualClock

PLACE = Place("https://played", "played", "shop", "a-token")


@dataclass(slots=True)
class Reply:
    """An answer, its own body: of what is there, and that ends or does not."""

    content: bytes = b""
    ended: bool = True
    closed: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> Reply:
        """What can be read."""
        return self

    def take(self) -> bytes:
        """Return what has come."""
        found, self.content = self.content, b""
        return found

    def end(self) -> None:
        """Let nothing more come."""
        self.ended = True

    def close(self) -> None:
        """Note it."""
        self.closed = True


def client_of(clock: VirtualClock, *replies: Reply | Exception) -> Client:
    """Return the gate's client, connected to a server that gives these answers."""
    coming = iter(replies)

    def serve(*_: object) -> Reply:
        reply = next(coming)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Client(connection_to(serve, clock.wait_until, clock, PLACE), clock)


def test_a_server_that_is_away_is_unreachable() -> None:
    """What the server's side raises is an error of the connection, and is tried again."""
    clock, away = VirtualClock(), ConnectionRefusedError("nobody")
    assert client_of(clock, away, Reply(b"{}")).get("/version") == b"{}"
    assert clock.now() > 0
    with pytest.raises(Unreachable):
        client_of(clock, away).get("/version", once=True)


def test_silence_is_a_timeout() -> None:
    """An answer that does not come within the limit of the request, in the clock's time."""
    clock, reply = VirtualClock(), Reply(ended=False)
    with pytest.raises(TimedOut):
        client_of(clock, reply).get("/version", seconds=7.0, once=True)
    assert (clock.now(), reply.closed) == (7.0, True)
