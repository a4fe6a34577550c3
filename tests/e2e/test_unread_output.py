"""A stderr that nobody reads, in front of the real control plane: nothing waits for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import assert_ended, assert_rolled_back, images
from tests.bed.interrupting import END_SECONDS
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.e2e.conftest import GateWith, WriteKubeconfig


@pytest.fixture
def full_stderr(
    tmp_path: Path, gate_with: GateWith, write_kubeconfig: WriteKubeconfig
) -> Iterator[CheckedGate]:
    """Return a gate whose stderr is a full pipe."""
    pipe = tmp_path / "stderr"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        while True:
            os.write(held, b"x" * 4096)
    except BlockingIOError:
        pass
    script = f'exec "$@" 2>{pipe}'
    yield gate_with(write_kubeconfig(), "sh", "-c", script, "sh")
    os.close(held)


@pytest.mark.contract("B152")
def test_a_bad_version_is_rolled_back(scene: Scene, full_stderr: CheckedGate) -> None:
    """What served before serves again, and the document says so."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="crash=0.1"))
    with full_stderr.start("apply", "-f", path, "--output", "json") as running:
        assert_rolled_back(running.wait(), "CrashLoop")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B152", "B153")
def test_a_signal_ends_it_in_time(scene: Scene, full_stderr: CheckedGate) -> None:
    """In mid-flight, within 5 s."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="ready=30"))
    with full_stderr.start("apply", "-f", path, "--output", "json") as running:
        scene.objects.wait_for("deployments", "web", _is_new)
        running.send(signal.SIGTERM)
        assert_ended(running.wait(END_SECONDS), 143, "interrupted", "Interrupted")


def _is_new(deployment: JSON) -> bool:
    return images(deployment) == ["shop/web:2"]
