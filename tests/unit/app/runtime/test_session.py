"""The session: what it ends when it ends, and that a command leaves nothing running behind."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gate.app.runtime.session import connect_session
from gate.app.runtime.world import outside
from gate.clock import SystemClock
from gate.config import Settings, load
from gate.errors import RefusedError
from gate.kube.connection import Connection
from gate.sources.source import Sources
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import ApiServer
from tests.unit.kube.scripted import Drop, Reply, as_status

CONNECT = outside().connect


def told(kubeconfig: str, **flags: Any) -> Settings:
    """Return settings that name the server."""
    given = {"kubeconfig": kubeconfig, "allow_insecure": True, **flags}
    return load("status", given, environ={})


@pytest.mark.contract("B240")
def test_the_namespace_is_that_of_the_flag_else_of_the_context(kubeconfig: str) -> None:
    """As for kubectl."""
    with connect_session(told(kubeconfig), SystemClock(), CONNECT, Sources({})) as session:
        assert session.namespace == "shop"
    with connect_session(
        told(kubeconfig, namespace="other"), SystemClock(), CONNECT, Sources({})
    ) as session:
        assert session.namespace == "other"


@pytest.mark.contract("B249")
def test_plain_http_needs_its_flag(gate: Gate, server: ApiServer) -> None:
    """Without it nothing is sent; with it every run says so."""
    ended = gate("status", "web", allow_insecure=False)
    assert (ended.code, ended.document["reason"], server.seen) == (3, "Protected", [])
    assert "--allow-insecure" in ended.err


@pytest.mark.contract("B504")
@pytest.mark.parametrize("answer", ["[]", '"x"', "7", '{"items": [1]}', "[" * 5_000])
def test_an_answer_about_a_secret_that_is_no_object_is_a_bad_answer(
    gate: Gate, server: ApiServer, manifest: Manifest, answer: str
) -> None:
    """What is to be learned of it breaks nothing: who asked says that it cannot be read."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "settings"}}
    server.put(web())
    server.on("GET", "/api/v1/namespaces/shop/secrets/settings", Reply(body=answer.encode()))
    ended = gate("apply", file=[manifest(secret, web("2"))])
    assert ended.document["reason"] == "Unreachable", ended.err
    assert "secret/settings cannot be read" in ended.err


def test_what_was_asked_for_is_done_before_the_connection_closes(
    kubeconfig: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last first."""
    done: list[str] = []
    monkeypatch.setattr(Connection, "close", lambda _: done.append("closed"))
    with connect_session(told(kubeconfig), SystemClock(), CONNECT, Sources({})) as session:
        session.at_end(lambda: done.append("first"))
        session.at_end(lambda: done.append("second"))
    assert done == ["second", "first", "closed"]


def test_a_question_under_way_is_not_repeated_after_the_end(
    server: ApiServer, kubeconfig: str
) -> None:
    """A thread that would go on asking for an hour ends with its session."""
    server.on("GET", "/version", Drop())
    asked = threading.Event()
    server.on_request = lambda _: asked.set()
    with connect_session(
        told(kubeconfig, connect_timeout="1h"), SystemClock(), CONNECT, Sources({})
    ) as session:
        ended: list[str] = []

        def ask() -> None:
            try:
                session.client.get("/version")
            except RefusedError as error:
                ended.append(error.reason)

        thread = threading.Thread(target=ask)
        thread.start()
        assert asked.wait(10)
    thread.join(10)
    assert ended == ["Unreachable"]


@pytest.mark.parametrize("tag", ["2", "crash", "refused"])
def test_a_command_leaves_no_thread_behind(
    gate: Gate, server: ApiServer, manifest: Manifest, tag: str
) -> None:
    """Watches, lanes and questions end, however the command did."""
    server.put(web())
    if tag == "refused":
        path = "/apis/apps/v1/namespaces/shop/deployments/web"
        server.on("PATCH", path, as_status(422, "web is invalid", "Invalid"))
    before = set(threading.enumerate())
    gate("apply", file=[manifest(web(tag))])
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive(), thread
