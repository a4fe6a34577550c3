"""What only the real control plane has: its processes, and kubeconfig files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from tests.bed.bed import Bed
from tests.bed.checked_gate import CheckedGate
from tests.bed.control_plane import ClusterUsers, control_plane_bed
from tests.bed.grounds import Ground
from tests.bed.lacking import lacks
from tests.cluster import access
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubelet.api import JSON


class WriteKubeconfig(Protocol):
    """Writes a kubeconfig for the test's namespace and returns its path."""

    def __call__(self, user: str = access.GATE, *, server: str | None = None) -> Path:
        """`server` names a proxy in front of the API server."""


class GateWith(Protocol):
    """Makes gates with a kubeconfig of the test's choice."""

    def __call__(self, kubeconfig: Path, *wrapping: str) -> CheckedGate:
        """`wrapping` are the words of a program that starts it, as in `nohup`."""


@pytest.fixture
def bed(request: pytest.FixtureRequest, ground: Ground, tmp_path: Path) -> Iterator[Bed]:
    """Return the control plane, whatever bed scenarios run on."""
    with control_plane_bed(ground.cluster, ground.history, request.node.name, tmp_path) as ready:
        yield ready


@pytest.fixture
def users(ground: Ground, bed: Bed) -> ClusterUsers:
    """Return the users of the test's namespace."""
    return ClusterUsers(ground.cluster, bed.objects, bed.folder)


@pytest.fixture
def write_kubeconfig(users: ClusterUsers) -> WriteKubeconfig:
    """Return a writer of kubeconfig files."""
    return users.write_kubeconfig


@pytest.fixture
def gate_with(users: ClusterUsers, bed: Bed) -> GateWith:
    """Return a maker of gates; each run is held against the invariants (`tests.bed.invariants`)."""
    return lambda kubeconfig, *wrapping: users.gate(bed, kubeconfig, *wrapping)


@pytest.fixture
def kubeconfig_with_rules(users: ClusterUsers) -> Callable[[Sequence[JSON]], Path]:
    """Return a maker of users with the given RBAC rules in the namespace, and no other right."""
    return users.kubeconfig_with_rules


@pytest.fixture
def plane(ground: Ground) -> ControlPlane:
    """Return the control plane, where this run has started it and may hold its servers."""
    if ground.cluster.plane is None:
        lacks("the servers of this cluster cannot be held")
    return ground.cluster.plane
