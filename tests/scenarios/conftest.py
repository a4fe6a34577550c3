"""What the scenarios have beside the fixtures of their bed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.bed import Bed
from tests.bed.nodes import Nodes
from tests.bed.scene import Scene
from tests.played.bed import PlayedUsers
from tests.played.gate import PlayedGate
from tests.scenarios.agents import Agents
from tests.scenarios.proxy import Proxy, proxy_before_a_sandbox


@pytest.fixture
def program(bed: Bed) -> PlayedGate:
    """Return the gate as a program of the sandbox, several of which may run at once."""
    assert isinstance(bed.users, PlayedUsers)
    return bed.users.everything()[0]


@pytest.fixture
def agents(scene: Scene, nodes: Nodes) -> Agents:
    """Return the DaemonSet, which does not run yet."""
    return Agents(scene, nodes)


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Return a proxy before a sandbox of the test's own; so far it passes everything on."""
    monkeypatch.chdir(tmp_path)
    with proxy_before_a_sandbox(tmp_path) as ready:
        yield ready
