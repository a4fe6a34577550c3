"""What needs real processes: a plugin that hangs, a server that restarts."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.interrupting import END_SECONDS, UNDER_WAY
from tests.bed.scene import Scene, web
from tests.cluster.command import LINE_SECONDS
from tests.cluster.control_plane import ControlPlane
from tests.e2e.conftest import GateWith


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
def test_before_the_first_write_nothing_is_left(
    scene: Scene, gate_with: GateWith, hanging_plugin: HangingPlugin
) -> None:
    """A signal while a credential plugin hangs ends the gate at once, with a document."""
    gate = gate_with(hanging_plugin.kubeconfig)
    with gate.start("apply", "-f", scene.manifest(web()), "--output", "json") as running:
        begun, _, _ = select.select([hanging_plugin.begun], [], [], LINE_SECONDS)
        assert begun, "the plugin was not started"
        running.send(signal.SIGTERM)
        result = running.wait(END_SECONDS)
    ended = (result.exit_code, result.document["outcome"], result.document["reason"])
    assert ended == (143, "interrupted", "Interrupted"), str(result)
    assert scene.objects.find("deployments", "web") is None


@pytest.mark.fault(2)
@pytest.mark.contract("B164")
def test_a_server_that_is_restarted_changes_no_verdict(scene: Scene, plane: ControlPlane) -> None:
    """Killed and started again in mid-flight, it is found again."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="ready=1")) as running:
        running.wait_for_line(UNDER_WAY)
        plane.api_server.kill()
        plane.api_server.start()
        plane.wait_until_serving()
        result = running.wait()
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:2")
