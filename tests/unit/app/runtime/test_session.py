"""The session: what it knows and asks, its watches, and what it ends when it ends."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from gate.app.rehearsal.virtual_world import PlayedSignals
from gate.app.runtime.live_state import judge_now, read_live
from gate.app.runtime.session import Session, connect_session
from gate.app.runtime.watches import Watching
from gate.app.runtime.world import Streams, outside
from gate.clock import SystemClock
from gate.config import load
from gate.core.kinds.deployment.objects import DEPLOYMENT, deployment_ref
from gate.core.model.outcome import Reason
from gate.core.protocol.events import AccessRefused, ContactLost
from gate.core.rollout.observations import Kind, Listed, Observed
from gate.errors import RefusedError
from gate.kube.connection.connection import Connection
from gate.sources.source import Sources
from gate.virtual_time import VirtualClock
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
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
    gate: Gate, server: Server, answer: str
) -> None:
    """What is to be learned of it breaks nothing: who asked says that it cannot be read."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "settings"}}
    server.on("GET", "/api/v1/namespaces/shop/secrets/settings", Reply(body=answer.encode()))
    ended = gate.apply(secret, web("2"))
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


# -- watches before the first write ----------------------------------------------------------------


WEB = deployment_ref("shop", "web")
SELECTOR = {"matchLabels": {"app": "web"}}


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock that waiting moves."""
    return VirtualClock(100.0)


@pytest.fixture
def session(server: Server, clock: VirtualClock) -> Iterator[Session]:
    """Return a session with version "pending" of web, whose time is apart from the sandbox's."""
    server.put(web("pending"))
    signals = PlayedSignals(server.played.clock.group())
    streams = Streams(io.BytesIO(), io.StringIO(), io.StringIO())
    world = server.played.world(signals, streams, user=server.user)
    settings = load("status", {}, environ={})
    with connect_session(settings, clock, world.connect, Sources({})) as session:
        yield session


@pytest.fixture
def watching(session: Session) -> Watching:
    """Return watches that were not started: the test says what they hear."""
    return Watching(session, {WEB: SELECTOR})


def listed(session: Session, kind: Kind, *things: object) -> None:
    """Let a list be heard."""
    session.inbox.put(Listed(100.0, kind, WEB, things))  # type: ignore[arg-type]


@pytest.mark.contract("B243")
@pytest.mark.parametrize("why", ["", "connection refused"])
def test_a_list_that_does_not_come_is_a_refusal(
    session: Session, watching: Watching, clock: VirtualClock, why: str
) -> None:
    """After the time that was given, with the reason where one is known."""
    listed(session, DEPLOYMENT)
    if why:
        session.inbox.put(ContactLost(100.0, why))
    with pytest.raises(RefusedError, match=f"did not list what runs within 5 s.*{why}") as caught:
        watching.settle(5.0)
    assert caught.value.reason == "Unreachable"
    assert clock.now() == 105.0


def test_a_right_that_is_missing_is_a_refusal_at_once(
    session: Session, watching: Watching, clock: VirtualClock
) -> None:
    """Trying again is no use."""
    session.inbox.put(AccessRefused(100.0, "shop/Pod", "pods is forbidden", Reason.FORBIDDEN))
    with pytest.raises(RefusedError, match="pods is forbidden"):
        watching.settle(5.0)
    assert clock.now() == 100.0


def test_following_folds_one_event_at_a_time(
    session: Session, watching: Watching, clock: VirtualClock
) -> None:
    """Where nothing comes, time passes until it may change the verdict."""
    live = read_live(session, "web")
    rollout = judge_now(live, clock.now())
    (replica_set,) = live.snapshot.revisions.values()
    session.inbox.put(Observed(100.0, replica_set))
    assert watching.follow(rollout) is rollout
    assert clock.now() == 100.0
    watching.follow(rollout)
    assert clock.now() == 100.0 + 600 + 5


@pytest.mark.contract("B188")
def test_a_standstill_is_counted_from_now_on(session: Session, clock: VirtualClock) -> None:
    """`status --watch` does not take the time before it for its own."""
    rollout = judge_now(read_live(session, "web"), clock.now())
    assert rollout.verdict(100.0 + 600).kind == "progressing"
    assert rollout.verdict(100.0 + 606).reason == "ProgressDeadlineExceeded"
