"""What a run does beside its attempt: connections ahead, and no watch when all is decided."""

from __future__ import annotations

import signal
from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest

from gate import last_word
from gate.app.execution import run
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Absent, Fact, Known
from gate.core.protocol.effects import FindTerminatingNamespaces
from gate.core.protocol.events import TerminatingNamespacesFound
from gate.kube.client.client import Client
from gate.kube.reads.cluster import Cluster
from gate.report.document.document import document
from gate.report.document.run import Run
from gate.report.schema.result import Result
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen


def gives_back(seen: Seen) -> bool:
    """Tell whether a request gives a lock back."""
    is_lease = seen.method == "PATCH" and "/leases/" in seen.path
    return is_lease and seen.json()["spec"].get("holderIdentity") == ""


@pytest.mark.parametrize(("tag", "code"), [("2", 0), ("crash", 4)])
def test_nothing_is_watched_once_it_is_decided(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch, tag: str, code: int
) -> None:
    """The watches end while the lock is given back: the exit waits for neither after the other."""
    stopping: list[Watching] = []
    given_back: list[bool] = []

    def wait(seen: Seen) -> None:
        if gives_back(seen):
            is_stopping = partial(bool, stopping)
            given_back.append(server.running.signals.group.wait_until(is_stopping, 5.0))

    stop = Watching.stop

    def note(watching: Watching) -> None:
        stop(watching)
        stopping.append(watching)

    monkeypatch.setattr(Watching, "stop", note)
    server.put(web())
    server.on_request = wait
    assert gate.apply(web(tag)).code == code
    assert given_back == [True]


@pytest.mark.contract("B912")
@pytest.mark.parametrize(
    ("signalled", "word"),
    [
        (False, "; by then the run had come to its end: verified, Complete: deployment/web"),
        (
            True,
            (
                ": unfinished, after writes to deployment/web; next (back if incomplete):"
                " rollout-gate recover web"
            ),
        ),
    ],
)
def test_a_second_signal_after_the_end_and_before_the_report_has_its_word(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch, signalled: bool, word: str
) -> None:
    """The second Ctrl-C often comes while the first one's end is made."""
    said: list[str] = []

    def ask_for_word(attempt: Attempt, of: Run) -> Result:
        said.extend(speak(signal.SIGINT) for speak in last_word._words[-1:])
        return document(attempt, of)

    def interrupt(seen: Seen) -> None:
        is_write = seen.method == "PATCH" and seen.path.endswith("/deployments/web")
        if signalled and is_write and "dryRun" not in seen.query:
            server.running.send(signal.SIGTERM)

    monkeypatch.setattr("gate.app.runtime.end_report.document", ask_for_word)
    server.put(web())
    server.on_request = interrupt
    ended = gate.apply(web("2"))
    assert ended.code == (143 if signalled else 0), ended.err
    (line,) = said
    assert line.startswith(f"SIGINT ended it at once{word}")
    assert not last_word._words


def test_connections_are_made_while_it_goes_on(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run, which reads nothing later, makes none."""
    made: list[Client] = []

    def note(client: Client) -> None:
        made.append(client)

    monkeypatch.setattr(Client, "keep_ready", note)
    server.put(web())
    assert gate.apply(web("2"), dry_run=True).code == 0
    assert not made
    assert gate.apply(web("2")).code == 0
    assert len(made) == 1


@pytest.mark.contract("B771", "B1964")
@pytest.mark.parametrize(
    ("found", "is_named"),
    [(Absent(), True), (Known(value=True), True), (Known(value=False), False)],
)
def test_a_namespace_goes_whether_or_not_it_is_gone_already(
    monkeypatch: pytest.MonkeyPatch, found: Fact[bool], is_named: bool
) -> None:
    """Nothing can be applied into it either way."""
    monkeypatch.setattr(Cluster, "terminating", lambda *_: found)
    session = SimpleNamespace(clock=SimpleNamespace(now=lambda: 5.0), client=None)
    answer = run._answer_with_terminating_namespaces(
        cast("Session", session), FindTerminatingNamespaces(7, ("shop",))
    )
    assert answer == TerminatingNamespacesFound(5.0, 7, frozenset({"shop"} if is_named else ()))
