"""Signals that need a process: a plugin that hangs, a server that is held, nohup."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.bed.interrupting import CRASHED, END_SECONDS, ENDING, UNDER_WAY, interrupted
from tests.bed.scene import Scene, crashing, web
from tests.cluster.command import LINE_SECONDS
from tests.cluster.control_plane import ControlPlane
from tests.e2e.conftest import GateWith, WriteKubeconfig


@dataclass(frozen=True, slots=True)
class HangingPlugin:
    """A kubeconfig whose credential plugin never answers; `begun` is readable once it runs."""

    kubeconfig: Path
    begun: int


@pytest.fixture
def hanging_plugin(write_kubeconfig: Callable[[], Path]) -> Iterator[HangingPlugin]:
    """Return a kubeconfig whose credential plugin hangs."""
    kubeconfig = write_kubeconfig()
    pipe, plugin = kubeconfig.with_name("begun"), kubeconfig.with_name("hanging-plugin")
    os.mkfifo(pipe)
    plugin.write_text(f"#!/bin/sh\necho begun >{pipe}\nexec sleep 20\n")
    plugin.chmod(0o700)
    version = "client.authentication.k8s.io/v1"
    how = {"apiVersion": version, "command": str(plugin), "interactiveMode": "Never"}
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"] = [{"name": "test", "user": {"exec": how}}]
    kubeconfig.write_text(yaml.safe_dump(document))
    begun = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    yield HangingPlugin(kubeconfig, begun)
    os.close(begun)


@pytest.mark.fault(17)
@pytest.mark.contract("B29", "B150")
@pytest.mark.parametrize(("number", "code"), ENDING)
def test_before_the_first_write_nothing_is_left(
    scene: Scene,
    gate_with: GateWith,
    hanging_plugin: HangingPlugin,
    number: signal.Signals,
    code: int,
) -> None:
    """A signal while a credential plugin hangs ends the gate at once, with a document."""
    gate = gate_with(hanging_plugin.kubeconfig)
    with gate.start("apply", "-f", scene.manifest(web()), "--output", "json") as running:
        begun, _, _ = select.select([hanging_plugin.begun], [], [], LINE_SECONDS)
        assert begun, "the plugin was not started"
        running.send(number)
        result = running.wait(END_SECONDS)
    ended = (result.exit_code, result.document["outcome"], result.document["reason"])
    assert ended == (code, "interrupted", "Interrupted"), str(result)
    assert scene.objects.find("deployments", "web") is None


@pytest.mark.fault(17)
@pytest.mark.contract("B153")
def test_a_second_signal_ends_it_at_once(scene: Scene, plane: ControlPlane) -> None:
    """Where the first signal waits for the server, the second one waits for nothing."""
    scene.serve(web())
    with scene.applying(crashing()) as running:
        running.wait_for_line(CRASHED)
        with plane.api_server.suspended():
            running.send(signal.SIGINT)
            running.wait_for_line("SIGINT received")
            running.send(signal.SIGINT)
            code = running.wait_for_end(30.0)
        result = running.wait()
    assert (code, result.stdout) == (130, ""), "where it ends in order there is a document"


@pytest.mark.fault(17)
@pytest.mark.contract("B155")
def test_a_signal_that_the_parent_ignored_is_heard(
    scene: Scene, gate_with: GateWith, write_kubeconfig: WriteKubeconfig
) -> None:
    """Under nohup, SIGHUP is handled all the same."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="ready=30"))
    gate = gate_with(write_kubeconfig(), "nohup")
    with gate.start("apply", "-f", path, "--output", "json") as running:
        interrupted(running, UNDER_WAY, signal.SIGHUP, 129)
