"""The places that hosts' jobs deploy to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.control_plane import ClusterUsers, control_plane_bed
from tests.bed.history import History
from tests.cluster.cluster import Cluster
from tests.hosts.place import Place, sandbox_place


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Place]:
    """Return a sandbox that listens."""
    with sandbox_place(tmp_path) as place:
        yield place


@pytest.fixture(scope="module", params=["sandbox", "control-plane"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Return each of both in turn, one for all tests of a file."""
    folder = tmp_path_factory.mktemp("place")
    if request.param == "sandbox":
        with sandbox_place(folder) as ready:
            yield ready
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    history: History = request.getfixturevalue("history")
    with control_plane_bed(cluster, history, "hosts", folder) as bed:
        kubeconfig = ClusterUsers(cluster, bed.objects, folder).write_kubeconfig()
        yield Place(kubeconfig, folder, cluster.scheduler_name)
