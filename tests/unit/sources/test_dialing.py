"""What `responses` cannot see: peers, time and ends of connections, on loopback."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.clock import SystemClock
from gate.core.checks.questions import Answered, Errored, HttpQuestion, MetricQuestion, Trouble
from gate.sources import dialing
from gate.sources.access import Access, SecretVariable
from gate.sources.exchange import Limits
from gate.sources.http import HttpCheck
from gate.sources.prometheus import Prometheus
from tests.unit.kube.scripted import Answer, Drop, Hang, Reply, ScriptedServer, Stream, serving

PATH = "/api/v1/query"
QUESTION = MetricQuestion("up", at=0.0)
GOOD = Reply(
    body=json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}}).encode(),
    headers={"Content-Type": "application/json"},
)
SHORT = Limits(answer_seconds=0.2)


def client(server: ScriptedServer, limits: Limits | None = None) -> Prometheus:
    """Return a client of the server."""
    return Prometheus(server.url, Access(), SystemClock(), limits=limits)


def trouble(said: Answered | Errored) -> Trouble:
    """Return why there is no answer."""
    assert isinstance(said, Errored), said
    return said.trouble


def hint(said: Answered | Errored) -> str:
    """Return what to do about it."""
    assert isinstance(said, Errored), said
    return said.hint


def test_a_broken_connection_is_replaced(server: ScriptedServer) -> None:
    """What one question broke does not trouble the next."""
    server.on("POST", PATH, GOOD, Drop(), GOOD)
    prometheus = client(server)
    assert [type(prometheus.ask(QUESTION)) for _ in range(3)] == [Answered] * 3


@pytest.mark.contract("B430")
@pytest.mark.parametrize("answer", [Hang(), Stream([b"{"], then="silence")])
def test_silence_ends_in_time(server: ScriptedServer, answer: Answer) -> None:
    """Before the answer's head, and in the midst of its body."""
    server.on("POST", PATH, answer)
    assert trouble(client(server, SHORT).ask(QUESTION)) is Trouble.TIMED_OUT


@pytest.mark.contract("B430")
@pytest.mark.parametrize("answer", [Hang(), Stream([b"{"], then="silence")])
def test_a_question_ends_with_the_run(server: ScriptedServer, answer: Answer) -> None:
    """At once, from another thread."""
    server.on("POST", PATH, answer)
    asked = threading.Event()
    server.on_request = lambda _: asked.set()
    prometheus = client(server)
    said: list[Answered | Errored] = []
    lane = threading.Thread(target=lambda: said.append(prometheus.ask(QUESTION)))
    lane.start()
    assert asked.wait(30)
    prometheus.cancel()
    lane.join(5)
    assert [trouble(each) for each in said] == [Trouble.CANCELLED]


@pytest.mark.long
@pytest.mark.contract("B430")
@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_an_answer_that_drips_ends_in_time(head: bytes) -> None:
    """Each byte comes soon after the one before, and the last one never."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            peer, _ = listener.accept()
            with peer, contextlib.suppress(OSError):
                peer.sendall(head)
                while not ended.wait(0.02):
                    peer.sendall(b"x")

        ended = threading.Event()
        dripping = threading.Thread(target=drip)
        dripping.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        said = Prometheus(url, Access(), SystemClock(), limits=SHORT).ask(QUESTION)
        ended.set()
        dripping.join()
    assert trouble(said) is Trouble.TIMED_OUT


@pytest.mark.long
@pytest.mark.contract("B430")
def test_a_cut_answer_is_tried_again(server: ScriptedServer) -> None:
    """Half of an answer is none."""
    server.on("POST", PATH, Stream([b"{"], then="cut"), GOOD)
    assert isinstance(client(server).ask(QUESTION), Answered)


@pytest.mark.contract("B428")
def test_the_peer_is_looked_at_before_a_byte_is_sent(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that resolves to a link-local address is refused at the connection itself."""
    monkeypatch.setattr(dialing, "is_link_local", lambda host: host == "127.0.0.1")
    server.on("POST", PATH, GOOD)
    prometheus = client(server)
    said = prometheus.ask(QUESTION)
    assert trouble(said) is Trouble.ADDRESS
    assert isinstance(said, Errored)
    assert said.hint == "--allow-link-local asks it all the same"
    assert not server.seen
    allowed = Prometheus(server.url, Access(allow_link_local=True), SystemClock())
    assert isinstance(allowed.ask(QUESTION), Answered)


@pytest.mark.contract("B428", "B286")
def test_a_service_is_not_reached_for_at_a_link_local_address(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may resolve to one; who allows it connects, and nothing is sent either way."""
    monkeypatch.setattr(dialing, "is_link_local", lambda host: host == "127.0.0.1")
    question = HttpQuestion(server.url)
    refused = HttpCheck(server.url, Access(), SystemClock()).reach(question)
    assert "127.0.0.1 is a link-local or metadata address" in refused
    assert "--allow-link-local" in refused
    allowed = Access(allow_link_local=True)
    assert HttpCheck(server.url, allowed, SystemClock()).reach(question) == ""
    assert not server.seen


@pytest.mark.contract("B286")
def test_a_name_that_does_not_resolve_in_time_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A resolver has no limit of its own: the wait is the clock's."""
    resolved = threading.Event()

    class Hurried(SystemClock):
        """A clock whose waits are over at once."""

        def wait(self, _seconds: float, until: threading.Event | None = None) -> bool:
            """Tell whether it has happened."""
            return until is not None and until.is_set()

    def connect(*_: object, **__: object) -> None:
        resolved.wait(5.0)

    monkeypatch.setattr("gate.sources.http.connect_once", connect)
    check = HttpCheck("http://slow.example", Access(), Hurried())
    try:
        said = check.reach(HttpQuestion("http://slow.example"))
    finally:
        resolved.set()
    assert said == "http://slow.example cannot be reached: it does not answer in time"


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[ScriptedServer]:
    """Return a server that speaks TLS and insists on a client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    yield from serving(context)


def test_a_server_and_its_client_prove_who_they_are(
    tls_server: ScriptedServer, certificate: Path
) -> None:
    """By the authority that was named, and by the client certificate; connections are kept."""
    tls_server.on("POST", PATH, GOOD)
    file = str(certificate)
    access = Access(authority=file, certificate=file, key=file)
    prometheus = Prometheus(tls_server.url, access, SystemClock())
    assert [type(prometheus.ask(QUESTION)) for _ in range(3)] == [Answered] * 3
    assert tls_server.connections == 1


@pytest.mark.contract("B429")
def test_a_server_that_nobody_vouches_for_is_told_nothing(tls_server: ScriptedServer) -> None:
    """The handshake ends before the request, and asking again does not help."""
    access = Access(token=SecretVariable("T", {"T": "c4nary"}))
    said = Prometheus(tls_server.url, access, SystemClock()).ask(QUESTION)
    assert trouble(said) is Trouble.TLS
    assert "is not trusted: self-signed certificate" in repr(said)
    assert "--prometheus-ca-file" in hint(said)
    assert not tls_server.seen
