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
from gate.kube.client.client import CONNECTIONS_OF_A_VERDICT, LOOK_SECONDS, Client
from gate.kube.connection.connection import Options, connect
from gate.kube.connection.pool import ReadyPool, ready_pool, use_ready_pools
from gate.side_by_side import each
from tests.unit.kube.scripted import Reply, ScriptedServer, Seen

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

    def on_request(_: Seen) -> None:
        together.wait()

    tls_server.on_request = on_request
    connect_ahead(secure)
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT
    assert tls_server.seen == []
    answers = each(SystemClock(), secure.get, ["/x"] * CONNECTIONS_OF_A_VERDICT)
    assert answers == [b"yes"] * CONNECTIONS_OF_A_VERDICT
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT


def test_they_are_kept_until_the_end(tls_server: ScriptedServer, secure: Client) -> None:
    """A server ends connections without a request: they are looked at again and again."""
    looks: list[float] = []

    def wait(seconds: float, until: threading.Event) -> bool:
        looks.append(seconds)
        if len(looks) == 3:
            until.set()
        return until.is_set()

    secure._clock.wait = wait  # type: ignore[assignment,method-assign]
    secure.keep_ready()
    assert looks == [LOOK_SECONDS] * 3
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT
    secure.keep_ready()
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT


def test_a_request_takes_an_open_connection_though_a_closed_one_came_back_last(
    tls_server: ScriptedServer, secure: Client
) -> None:
    """As at the end of a run: its watches are stopped, then its locks are given back."""
    pool = connect_ahead(secure)
    watch = pool._get_conn()
    watch.close()
    pool._put_conn(watch)
    assert secure.get("/x", once=True) == b"yes"
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT


@pytest.mark.parametrize(
    "manager", [urllib3.ProxyManager("http://127.0.0.1:9"), urllib3.PoolManager()]
)
def test_only_a_pool_without_a_proxy_connects_ahead(manager: urllib3.PoolManager) -> None:
    """A tunnel is made by a request to the proxy, which is not sent for nothing."""
    use_ready_pools(manager)
    found = ready_pool(manager, SERVER)
    assert (found is None) == isinstance(manager, urllib3.ProxyManager)
    assert ready_pool(manager, "http://127.0.0.1:1") is None


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n"])
def test_a_connection_that_the_server_gave_up_is_not_used(
    tls: ssl.SSLContext, certificate: Path, says: bytes
) -> None:
    """It has something to read as one with a ticket has: its end, or an answer to nothing."""
    with giving_up_the_first(tls, says) as (port, given_up):
        pool = ReadyPool("127.0.0.1", port, ca_certs=str(certificate), maxsize=1)
        pool.connect_ahead(1, SECONDS, threading.Event())
        assert given_up.wait(SECONDS)
        answer = pool.request("GET", "/", retries=False, timeout=SECONDS)
    assert answer.data == b"yes"


def connect_ahead(client: Client) -> ReadyPool:
    """Connect ahead once, and return the pool."""
    pool = client.connection.api.ready_pool
    assert pool is not None
    pool.connect_ahead(CONNECTIONS_OF_A_VERDICT, SECONDS, threading.Event())
    return pool


@contextmanager
def giving_up_the_first(tls: ssl.SSLContext, says: bytes) -> Iterator[tuple[int, threading.Event]]:
    """Serve two connections: the first is told something, or closed; the second is answered."""
    given_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)

        def work() -> None:
            # What is said follows its tickets at once.
            first, _ = listener.accept()
            first.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with tls.wrap_socket(first, server_side=True) as connection:
                connection.sendall(says) if says else connection.close()
                given_up.set()
                second, _ = listener.accept()
                with tls.wrap_socket(second, server_side=True) as other:
                    other.recv(1 << 16)
                    other.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield listener.getsockname()[1], given_up
        thread.join()
