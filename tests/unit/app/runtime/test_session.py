"""The session: what it knows and asks, and what it ends when it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from gate.app.runtime.session import Session, connect_session
from gate.app.runtime.world import outside
from gate.clock import SystemClock
from gate.config import load
from gate.errors import RefusedError
from gate.kube.connection import Connection
from gate.sources.source import Sources
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Drop, Reply, ScriptedServer, serving


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """Return a server on loopback, over plain HTTP."""
    yield from serving()


@pytest.fixture
def kubeconfig(scripted: ScriptedServer, tmp_path: Path) -> str:
    """Return a kubeconfig for it, whose context has the namespace shop."""
    context = {"cluster": "c", "user": "ci", "namespace": "shop"}
    document = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": scripted.url}}],
        "users": [{"name": "ci", "user": {"token": "t0ken"}}],
        "contexts": [{"name": "here", "context": context}],
    }
    file = tmp_path / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(json.dumps(document))
    return str(file)


def opened(kubeconfig: str, **flags: Any) -> AbstractContextManager[Session]:
    """Return a session with the server."""
    given = {"kubeconfig": kubeconfig, "allow_insecure": True, **flags}
    settings = load("status", given, environ={})
    return connect_session(settings, SystemClock(), outside().connect, Sources({}))


@pytest.mark.contract("B240")
def test_the_namespace_is_that_of_the_flag_else_of_the_context(kubeconfig: str) -> None:
    """As for kubectl."""
    with opened(kubeconfig) as session:
        assert session.namespace == "shop"
    with opened(kubeconfig, namespace="other") as session:
        assert session.namespace == "other"


@pytest.mark.contract("B249")
def test_plain_http_needs_its_flag(here: Gate, scripted: ScriptedServer, kubeconfig: str) -> None:
    """Without it nothing is sent."""
    ended = here("status", "web", kubeconfig=kubeconfig)
    assert (ended.code, ended.document["reason"], scripted.seen) == (3, "Protected", [])
    assert "--allow-insecure" in ended.err


@pytest.mark.contract("B504")
@pytest.mark.parametrize("answer", ["[]", '"x"', "7", '{"items": [1]}', "[" * 5_000])
def test_an_answer_about_a_secret_that_is_no_object_is_a_bad_answer(
    gate: Gate, server: Server, manifest: Manifest, answer: str
) -> None:
    """What is to be learned of it breaks nothing: who asked says that it cannot be read."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "settings"}}
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
    with opened(kubeconfig) as session:
        session.at_end(lambda: done.append("first"))
        session.at_end(lambda: done.append("second"))
    assert done == ["second", "first", "closed"]


def test_a_question_under_way_is_not_repeated_after_the_end(
    scripted: ScriptedServer, kubeconfig: str
) -> None:
    """A thread that would go on asking for an hour ends with its session."""
    scripted.on("GET", "/version", Drop())
    asked = threading.Event()
    scripted.on_request = lambda _: asked.set()
    with opened(kubeconfig, connect_timeout="1h") as session:
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
