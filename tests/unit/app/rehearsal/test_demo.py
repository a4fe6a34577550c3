"""`demo`, what a person sees in the first minute, and `sandbox`, what is served."""

from __future__ import annotations

import io
import signal
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.app.rehearsal import serve
from gate.app.rehearsal.demo import demo, program_name
from gate.app.rehearsal.stage import Stage
from gate.config import load
from sandbox.face import Cluster
from sandbox.server import Endpoint, Ready, ServeOptions
from tests.long import longer
from tests.unit.app.rehearsal.conftest import Played, Signals

SCENARIOS = [
    longer("", 4),
    longer("good", 0),
    longer("crash", 4),
    longer("image-pull", 4),
    longer("never-ready", 4),
    ("superseded", 8),
    longer("stale-deadline", 0),
    ("first-deployment", 6),
]
LONGEST_SECONDS = 30
"""Of the world's time: the cluster's goes ten times as fast."""


@pytest.mark.contract("B310")
@pytest.mark.parametrize(("name", "code"), SCENARIOS)
def test_a_demo_shows_commands_and_their_codes(played: Played, name: str, code: int) -> None:
    """A good version first, then the one with the trouble; 0 where the gate did its work."""
    before = played.world.clock.now()
    assert demo(played.world, load("demo", {}, environ={}), name) == 0
    assert 0 < played.world.clock.now() - before < LONGEST_SECONDS
    said = played.out.getvalue()
    *_, last = said.split("$ echo $?\n")
    assert last.splitlines()[0] == str(code)
    assert "rollout-gate rehearse" in last, "it says what to try next"
    runs = 1 if name == "first-deployment" else 2
    assert said.count("$ echo $?") == runs
    assert "rollout-gate apply -f" in said


@pytest.mark.contract("B656")
def test_a_demo_on_a_terminal_has_its_colours(played: Played) -> None:
    """Its runs know what the terminal of the demo can show, and nothing else of the world."""
    for declined, colored in (({}, True), ({"NO_COLOR": "1"}, False)):
        screen = Screen()
        world = replace(
            played.world,
            streams=replace(played.world.streams, stdout=screen),
            environ={"TERM": "xterm", **declined},
        )
        assert demo(world, load("demo", {}, environ={}), "first-deployment") == 0
        assert ("\x1b[" in screen.getvalue()) == colored


class Screen(io.StringIO):
    """A terminal that keeps what it shows."""

    def isatty(self) -> bool:
        """Say that somebody looks."""
        return True


@pytest.mark.contract("B310")
def test_the_demo_opens_no_socket_and_leaves_no_thread(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing listens, on no address; what it started ends with it."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    before = set(threading.enumerate())
    assert demo(played.world, load("demo", {}, environ={}), "crash") == 0
    started = set(threading.enumerate()) - before
    for thread in started:
        thread.join(10)
    assert not any(thread.is_alive() for thread in started)


def test_a_signal_ends_the_demo_and_the_gate_in_it(played: Played) -> None:
    """The gate ends as on a cluster, nothing is played after that, and no thread is left."""
    out, delivery = played.out, Signals()

    class Watched(io.StringIO):
        def write(self, text: str) -> int:
            if "applied" in text:
                delivery.send(signal.SIGINT)
            return super().write(text)

    streams = replace(played.world.streams, stderr=Watched())
    world = replace(played.world, streams=streams, delivered=delivery.delivered)
    before = set(threading.enumerate())
    assert demo(world, load("demo", {}, environ={}), "crash") == 128 + signal.SIGINT
    assert out.getvalue().count("$ echo $?\n130\n") == 1
    assert "INTERRUPTED (exit 130)" in out.getvalue()
    assert "1.5.0" not in out.getvalue()
    assert set(threading.enumerate()) == before


def test_a_demo_in_which_the_gate_breaks_is_no_success(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal error has caught nothing."""
    codes = iter((0, 1))
    monkeypatch.setattr(Stage, "run", lambda *_: next(codes))
    assert demo(played.world, load("demo", {}, environ={}), "crash") == 6


def test_an_unknown_scenario_is_one_line_with_those_there_are(played: Played) -> None:
    """Exit 2."""
    assert demo(played.world, load("demo", {}, environ={}), "crush") == 2
    said = played.err.getvalue()
    assert "no such kind of trouble: 'crush'" in said
    assert "first-deployment" in said


@pytest.mark.contract("B1023")
def test_the_demo_names_the_program_as_it_was_started(tmp_path: Path) -> None:
    """From a checkout the name alone is not found; what cannot be told is called by its name."""
    program = tmp_path / "bin" / "rollout-gate"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert program_name(str(program), "/nowhere") == str(program)
    assert program_name(str(program), str(program.parent)) == "rollout-gate"
    assert program_name("/checkout/gate/__main__.py", str(program.parent)) == "python -m gate"
    assert program_name("/usr/bin/pytest", "/nowhere") == "rollout-gate"


# -- sandbox ---------------------------------------------------------------------------------------


def test_a_scenario_plays_in_what_is_served(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its seconds count from the start; the options reach the server, the address the user."""
    scenario, kubeconfig = tmp_path / "day.yaml", tmp_path / "kubeconfig"
    scenario.write_text("events: {20s: quota pods=4}\n")
    quotas: list[int] = []

    def served(cluster: Cluster, ready: Ready, options: ServeOptions, _: object) -> None:
        assert options == ServeOptions(6443, 10.0, kubeconfig)
        ready(Endpoint("https://127.0.0.1:6443", 6443, ""))
        for second in (19.0, 21.0):
            cluster.timers.run_due(second)
            quotas.append(len(cluster.api.store.items("resourcequotas")))

    monkeypatch.setattr(serve, "serve_until_signalled", served)
    flags = {
        "kubeconfig": str(kubeconfig),
        "port": "6443",
        "speed": "10",
        "scenario": str(scenario),
    }
    assert serve.sandbox(played.world, load("sandbox", flags, environ={})) == 0
    assert quotas == [0, 1]
    assert played.out.getvalue() == f"export KUBECONFIG={kubeconfig}\n"
    assert "listens on https://127.0.0.1:6443, time x 10" in played.err.getvalue()
