"""One exchange and its limit of time, over a real connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from gate.clock import SystemClock
from gate.core.checks.questions import Trouble
from gate.sources.access import Access
from gate.sources.address import Address
from gate.sources.exchange import Exchanges, Sent
from gate.sources.source import Unanswered

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LONG_SECONDS = 30.0


class Late(SystemClock):
    """A clock on which the time of an exchange is over as soon as a test says so."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:  # noqa: ARG002
        """Wait for the test, or for the end of the exchange, which comes from no clock."""
        while not self.over.is_set():
            if super().wait(0.01, until):
                return True
        return until is not None and until.is_set()


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """Return a socket that takes connections and says nothing by itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.mark.contract("B286")
def test_the_time_of_an_exchange_is_the_clocks(listening: socket.socket) -> None:
    """A server that would answer is left where the clock says that it is late."""
    clock = Late()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    address = Address.parse(url)
    exchanges = Exchanges(Access(), address, clock)
    left_first: list[bytes] = []

    def serve() -> None:
        with listening.accept()[0] as peer:
            peer.settimeout(3.0)
            peer.recv(4096)
            clock.over.set()
            try:
                left_first.append(peer.recv(1))
            except TimeoutError:
                peer.sendall(ANSWER)

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    with pytest.raises(Unanswered) as caught:
        exchanges.send(Sent("GET", address), LONG_SECONDS)
    serving.join(LONG_SECONDS)
    assert caught.value.error.trouble is Trouble.TIMED_OUT
    assert left_first == [b""]
