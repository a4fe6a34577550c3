"""A first signal before the first write, in each phase of each command that may write."""

from __future__ import annotations

import signal

import pytest

from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen


def run(gate: Gate, command: str) -> Ended:
    """Run a command on the Deployment web."""
    match command:
        case "apply" | "preflight":
            return gate(command, file=[gate.manifest(web("3"))])
        case "verify" | "recover":
            return gate(command, ("web",))
        case _:
            return gate(command, "web")


def interrupt(server: Server, path: str, *, time: int) -> None:
    """Let a signal come while a path is asked for, for the so-manyeth time."""
    seen_before: list[Seen] = []

    def send_signal(seen: Seen) -> None:
        if seen.path.endswith(path):
            seen_before.append(seen)
            if len(seen_before) == time:
                server.running.send(signal.SIGINT)

    server.on_request = send_signal


@pytest.fixture
def served(server: Server) -> None:
    """Two versions have run; the second serves."""
    server.put(web("1"))
    server.put(web("2"))


GUARDS = "/namespaces/kube-system"
"""Asked for first, to tell which cluster it is."""
READS = "/deployments/web"
"""Asked for where a command plans, by most of them after their guards have asked for it."""


@pytest.mark.contract("B29", "B150")
@pytest.mark.parametrize(
    ("command", "path", "time"),
    [
        ("apply", GUARDS, 1),
        ("apply", READS, 2),
        ("preflight", GUARDS, 1),
        ("preflight", READS, 2),
        ("verify", GUARDS, 1),
        ("verify", READS, 1),
        ("undo", GUARDS, 1),
        ("undo", READS, 2),
        ("restart", GUARDS, 1),
        ("restart", READS, 2),
        ("resume", GUARDS, 1),
        ("resume", READS, 2),
        ("pause", GUARDS, 1),
        ("pause", READS, 2),
        ("recover", GUARDS, 1),
    ],
)
@pytest.mark.usefixtures("served")
def test_a_signal_ends_each_command_at_once(
    gate: Gate, server: Server, command: str, path: str, time: int
) -> None:
    """Nothing was written, and the report says so; after a guard not even a lock was taken."""
    interrupt(server, path, time=time)
    ended = run(gate, command)
    assert ended.code == 128 + signal.SIGINT, ended.err
    assert ended.document["message"].startswith("SIGINT ended it")
    assert server.writes() == []
    taken = [seen for seen in server.seen if "/leases" in seen.path and seen.method != "GET"]
    assert path != GUARDS or not taken
