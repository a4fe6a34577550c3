"""Connections made ahead are those that requests use; a server that closed one is noticed."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from gate.clock import SystemClock
from gate.kube.client import CONNECTIONS_OF_A_VERDICT, Client
from gate.kube.connection import Options, connect
from gate.kube.pool import ReadyPool, connect_ahead, use_ready_pools
from gate.side_by_side import each
from tests.unit.kube.scripted import Reply, ScriptedServer

MakeConfig = Callable[..., Path]
SECONDS = 5.0
SERVER = "https://127.0.0.1:1"


@pytest.fixture
def secure(tls_server: ScriptedServer, kubeconfig: MakeConfig, certificate: Path) -> Client:
    """Return a client of the server that speaks TLS."""
    tls_server.on("GET", "/x", Reply(body=b"yes"))
    file = kubeconfig(tls_server.url, **{"certificate-authority": str(certificate)})
    return Client(connect(Options(kubeconfig=str(file)), environ={}), SystemClock())


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_requests_use_what_was_connected_ahead(
    version: ssl.TLSVersion, tls_server: ScriptedServer, tls: ssl.SSLContext, secure: Client
) -> None:
    """As many at once as a verdict asks need no other; tickets of TLS 1.3 are no end of one."""
    tls.minimum_version = tls.maximum_version = version
    together = threading.Barrier(CONNECTIONS_OF_A_VERDICT, timeout=SECONDS)
    tls_server.on_request = lambda _: _met(together)
    secure.connect_ahead()
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT
    assert tls_server.seen == []
    answers = each(SystemClock(), secure.get, ["/x"] * CONNECTIONS_OF_A_VERDICT)
    assert answers == [b"yes"] * CONNECTIONS_OF_A_VERDICT
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT


def test_what_stands_already_counts(tls_server: ScriptedServer, secure: Client) -> None:
    """Connections that wait already are among the number; asking again makes none."""
    secure.get("/x")
    secure.connect_ahead()
    secure.connect_ahead()
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT


def test_a_plain_server_is_left_alone(client: Client, server: ScriptedServer) -> None:
    """Where there is no handshake nothing is to be gained."""
    client.connect_ahead()
    assert server.connections == 0


def test_nobody_hears_of_a_failure(tls_server: ScriptedServer, secure: Client) -> None:
    """A server that is away is noticed by the next request, with its repetitions."""
    tls_server.close()
    secure.connect_ahead()
    assert secure.requests == 0


def test_a_proxy_is_not_asked_ahead() -> None:
    """A tunnel is made by a request to the proxy, which is not sent for nothing."""
    manager = urllib3.ProxyManager("http://127.0.0.1:9")
    use_ready_pools(manager)
    connect_ahead(manager, SERVER, 1, SECONDS)
    assert manager.connection_from_url(SERVER).num_connections == 0


def test_a_connection_that_the_server_closed_is_not_used(
    tls: ssl.SSLContext, certificate: Path
) -> None:
    """It has something to read as one with a ticket has: its end."""
    with closing_the_first(tls) as (port, closed):
        pool = ReadyPool("127.0.0.1", port, ca_certs=str(certificate), maxsize=1)
        pool.connect_ahead(1, SECONDS)
        assert closed.wait(SECONDS)
        answer = pool.request("GET", "/", retries=False, timeout=SECONDS)
    assert answer.data == b"yes"


def _met(barrier: threading.Barrier) -> None:
    """Answer no request before all have come."""
    barrier.wait()


@contextmanager
def closing_the_first(tls: ssl.SSLContext) -> Iterator[tuple[int, threading.Event]]:
    """Serve two connections: the first is closed after its handshake, the second is answered."""
    closed = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)

        def work() -> None:
            first, _ = listener.accept()
            tls.wrap_socket(first, server_side=True).close()
            closed.set()
            second, _ = listener.accept()
            with tls.wrap_socket(second, server_side=True) as connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield listener.getsockname()[1], closed
        thread.join()
