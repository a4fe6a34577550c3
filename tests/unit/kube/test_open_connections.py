"""Which connection of the pool a request takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from gate.clock import SystemClock
from gate.kube.client import CONNECTIONS_OF_A_VERDICT, Client
from gate.kube.connection import Options, connect
from tests.unit.kube.scripted import Reply, ScriptedServer

SECONDS = 5.0


def test_a_request_takes_an_open_connection_though_a_closed_one_came_back_last(
    tls_server: ScriptedServer, kubeconfig: Callable[..., Path], certificate: Path
) -> None:
    """As at the end of a run: its watches are stopped, then its locks are given back."""
    tls_server.on("GET", "/x", Reply(body=b"yes"))
    file = kubeconfig(tls_server.url, **{"certificate-authority": str(certificate)})
    client = Client(connect(Options(kubeconfig=str(file)), environ={}), SystemClock())
    pool = client.connection.api.ready_pool
    assert pool is not None
    pool.connect_ahead(CONNECTIONS_OF_A_VERDICT, SECONDS, threading.Event())
    watch = pool._get_conn()
    watch.close()
    pool._put_conn(watch)
    assert client.get("/x", once=True) == b"yes"
    assert tls_server.connections == CONNECTIONS_OF_A_VERDICT
