"""A played world: commands as processes of virtual time, with a sandbox as their cluster."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from gate.app.rehearsal.virtual_world import Handle, Played, Running, User
from gate.app.runtime.world import World
from gate.kube.client.client import Client
from gate.kube.connection.connection import Options
from gate.virtual_time import Abandoned
from sandbox.face import Answer, Cluster, Request

NAMESPACES = "/api/v1/namespaces"


@pytest.fixture
def played() -> Iterator[Played]:
    """Return a sandbox; at the end none of its threads is left."""
    before = set(threading.enumerate())
    made = Played.of(Cluster())
    yield made
    made.clock.end()
    assert set(threading.enumerate()) <= before


def client_in(world: World) -> Client:
    """Return a client as a command makes it."""
    return Client(world.connect(Options(), world.clock), world.clock)


def test_time_passes_only_where_all_wait(played: Played) -> None:
    """An hour of waiting is an hour of the sandbox, and a command that goes on has no code yet."""

    def command(world: World) -> int:
        world.clock.wait(3600.0)
        return 0

    running = played.start(command)
    assert running.wait(60.0) is None
    assert played.cluster.timers.now() == 60.0
    assert running.wait() == 0
    assert played.clock.now() == played.cluster.timers.now() == 3600.0


def waits(world: World) -> int:
    """Wait for ever, with a thread beside that does, too."""
    world.clock.start(lambda: _sleep(world), "beside")
    _sleep(world)
    return 0


def _sleep(world: World) -> None:
    world.clock.wait(1e9)


def test_what_a_command_started_ends_with_it(played: Played) -> None:
    """Its threads are a process's: none outlives it."""

    def command(world: World) -> int:
        world.clock.start(lambda: _sleep(world), "beside")
        world.clock.wait(1.0)
        return 0

    before = set(threading.enumerate())
    assert played.start(command).wait(5.0) == 0
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("before", [True, False])
def test_a_command_can_be_killed_at_a_request(played: Played, before: bool) -> None:
    """Before the server has heard of it, or after it has done it: not a step further."""
    reached: list[str] = []
    running: list[Running] = []

    def through(request: Request, handle: Handle) -> Answer:
        if before:
            running[0].kill()
        answer = handle(request)
        running[0].kill()
        reached.append("further")
        return answer

    def command(world: World) -> int:
        body = {"metadata": {"name": "made"}}
        client_in(world).write("POST", NAMESPACES, body)
        reached.append("further")
        return 0

    running.append(played.start(command, user=User(through=through)))
    assert running[0].wait(5.0) == -signal.SIGKILL
    assert not reached
    names = {item["metadata"]["name"] for item in played.cluster.api.store.items("namespaces")}
    assert ("made" in names) is not before


def test_signals_arrive_where_the_command_waits(played: Played) -> None:
    """The first is handed over, the second ends it with 128 and its number."""
    heard: list[tuple[int, float]] = []

    def command(world: World) -> int:
        world.clock.wait(1.0)
        with world.delivered(lambda number: heard.append((number, world.clock.now()))):
            _sleep(world)
        return 0

    running = played.start(command)
    running.send(signal.SIGINT)
    played.clock.wait(5.0)
    running.send(signal.SIGTERM)
    assert running.wait(5.0) is None
    running.send(signal.SIGINT)
    assert running.wait(5.0) == 128 + signal.SIGINT
    assert heard == [(signal.SIGTERM, 5.0)]


def test_a_signal_is_for_who_listens_when_it_arrives(played: Played) -> None:
    """Sent while one part of a command listened, it can reach the next part."""
    heard: list[str] = []

    def command(world: World) -> int:
        with world.delivered(lambda _: heard.append("preparing")):
            running.send(signal.SIGINT)
        with world.delivered(lambda _: heard.append("following")):
            world.clock.wait(1.0)
        return 0

    running = played.start(command)
    assert running.finish() == 0
    assert heard == ["following"]


def test_what_breaks_a_command_is_raised_by_whoever_waits(played: Played) -> None:
    """A bug of a test's command is the test's own failure."""

    def command(world: World) -> int:
        raise LookupError(world.clock.now())

    with pytest.raises(LookupError):
        played.start(command).wait(1.0)


def test_an_end_of_time_is_the_end_of_every_command(played: Played) -> None:
    """Where the sandbox is given up, nothing of it runs on."""
    running = [played.start(waits) for _ in range(3)]
    played.clock.wait(1.0)
    played.clock.end()
    assert all(each.ended for each in running)
    with pytest.raises(Abandoned):
        played.clock.wait(1.0)
