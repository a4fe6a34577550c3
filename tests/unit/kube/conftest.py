"""The scene of the adapter's tests: a scripted server, a kubeconfig, a client."""

from __future__ import annotations

import json
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.clock import Clock
from gate.kube.client.client import Client
from gate.kube.client.contact import Contact
from gate.kube.client.repetition import Limits
from gate.kube.connection.connection import Options, connect
from gate.kube.paths.resources import Resources
from gate.virtual_time import VirtualClock
from tests.cluster.access import self_signed
from tests.unit.kube.scripted import ScriptedServer, serving

MakeClient = Callable[..., Client]
Script = Callable[[str], str]
V1 = "client.authentication.k8s.io/v1"


def printing(**status: Any) -> str:
    """Return a program that answers as an exec plugin does."""
    document = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    return f"print({json.dumps(document)!r})"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Return a writer of executable Python scripts, each in the place of the one before."""

    def write(text: str) -> str:
        file = tmp_path / "plugin"
        file.write_text(f"#!{sys.executable}\nimport json, os, sys\n{text}\n")
        file.chmod(0o700)
        return str(file)

    return write


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """Return a server that speaks plain HTTP."""
    yield from serving()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate for 127.0.0.1, both made for this run."""
    made = self_signed(tmp_path_factory.mktemp("tls"))
    made.key.write_bytes(made.key.read_bytes() + made.certificate.read_bytes())
    return made.key


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """Return how a server speaks TLS: it asks for a client certificate where there is one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


@pytest.fixture
def tls_server(tls: ssl.SSLContext) -> Iterator[ScriptedServer]:
    """Return a server that speaks TLS."""
    yield from serving(tls)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Callable[..., Path]:
    """Return a writer of kubeconfig files with one cluster, one user and one context."""

    def write(server: str, user: Any = None, *, name: str = "config", **cluster: Any) -> Path:
        document = {
            "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": server} | cluster}],
            "users": [{"name": "ci", "user": {"token": "t0ken"} if user is None else user}],
            "contexts": [
                {"name": "here", "context": {"cluster": "c", "user": "ci", "namespace": "shop"}}
            ],
        }
        file = tmp_path / name
        file.write_text(json.dumps(document))
        file.chmod(0o600)
        return file

    return write


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock that waiting moves."""
    return VirtualClock()


@pytest.fixture
def make_client(
    server: ScriptedServer, kubeconfig: Callable[..., Path], clock: VirtualClock
) -> Iterator[MakeClient]:
    """Return a maker of clients of the scripted server, without chance in their pauses."""
    made: list[Client] = []

    def make(
        user: Any = None,
        *,
        clock: Clock = clock,
        contact: Contact | None = None,
        stopping: threading.Event | None = None,
        **limits: Any,
    ) -> Client:
        options = Options(str(kubeconfig(server.url, user)), allow_insecure=True)
        client = Client(
            connect(options, clock=clock),
            clock,
            limits=Limits(**limits),
            contact=contact,
            stopping=stopping,
        )
        client.jitter = lambda: 1.0
        made.append(client)
        return client

    yield make
    for client in made:
        client.connection.close()


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    """Return a client of the scripted server."""
    return make_client()


@pytest.fixture
def resources(client: Client) -> Resources:
    """Return the table of kinds."""
    return Resources(client)
