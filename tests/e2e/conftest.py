"""The scene of every end-to-end test: a real cluster, a namespace of its own, the programs.

The cluster is started once a run. `ROLLOUT_GATE_E2E_KUBECONFIG` names one that runs already.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from tests.cluster import access, manifests, programs
from tests.cluster.audit import Trail
from tests.cluster.cluster import Cluster, given_cluster, own_cluster
from tests.cluster.command import Program
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.e2e.checked_gate import CheckedGate, Place
from tests.e2e.history import History
from tests.e2e.policies import Policies
from tests.e2e.scene import Scene

_numbers = itertools.count(1)
_roles = itertools.cycle(access.ROLES)


class WriteKubeconfig(Protocol):
    """Writes a kubeconfig for the test's namespace and returns its path."""

    def __call__(self, user: str = access.GATE, *, server: str | None = None) -> Path:
        """`server` names a proxy in front of the API server."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return the cluster of this run."""
    folder = tmp_path_factory.mktemp("cluster")
    given = os.environ.get("ROLLOUT_GATE_E2E_KUBECONFIG")
    context = given_cluster(Path(given), folder) if given else own_cluster(folder)
    with context as ready:
        yield ready


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return a namespace that is this test's alone; it goes in the background afterwards."""
    cluster.check()
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:30].strip("-")
    name = f"{test}-{os.getpid()}-{next(_numbers)}"
    objects = cluster.objects(name)
    objects.create("namespaces", {"metadata": {"name": name}})
    yield name
    objects.delete("namespaces", name)


@pytest.fixture
def objects(cluster: Cluster, namespace: str) -> Objects:
    """Return the objects of the test's namespace."""
    return cluster.objects(namespace)


@pytest.fixture
def audit(cluster: Cluster) -> Trail:
    """Return what the API server is asked from now on."""
    if cluster.audit is None:
        pytest.skip("the audit log of this cluster cannot be read")
    return Trail(cluster.audit, cluster.audit.mark())


@pytest.fixture
def write_kubeconfig(cluster: Cluster, namespace: str, tmp_path: Path) -> WriteKubeconfig:
    """Return a writer of kubeconfig files."""

    def write(user: str = access.GATE, *, server: str | None = None) -> Path:
        path = tmp_path / f"kubeconfig-{next(_numbers)}"
        path.touch(mode=0o600)
        path.write_text(cluster.kubeconfig(user, namespace, server))
        return path

    return write


@pytest.fixture(scope="session")
def history(cluster: Cluster) -> History:
    """Return every version that the Deployments of this run go through."""
    history = History(cluster.api)
    history.start()
    return history


@pytest.fixture
def place(cluster: Cluster, namespace: str, history: History) -> Place:
    """Return where the test's runs of the gate take place."""
    return Place(cluster, namespace, history)


@pytest.fixture
def gate_with(tmp_path: Path, place: Place) -> Callable[[Path], CheckedGate]:
    """Return a maker of gates with a kubeconfig of the test's choice.

    Each run is held against the invariants when it ends (`tests.e2e.invariants`).
    """
    return lambda kubeconfig: CheckedGate(programs.gate(kubeconfig, tmp_path), place)


@pytest.fixture
def gate(
    gate_with: Callable[[Path], CheckedGate], write_kubeconfig: WriteKubeconfig
) -> CheckedGate:
    """Return the gate with every right, in the test's folder and namespace."""
    return gate_with(write_kubeconfig())


@pytest.fixture
def kubectl(cluster: Cluster, write_kubeconfig: WriteKubeconfig, tmp_path: Path) -> Program:
    """Return kubectl as the administrator, in the test's folder and namespace."""
    return programs.kubectl(cluster.kubectl, write_kubeconfig(access.ADMIN), tmp_path)


@pytest.fixture
def kubeconfig_with_rules(
    cluster: Cluster, objects: Objects, write_kubeconfig: WriteKubeconfig
) -> Callable[[Sequence[JSON]], Path]:
    """Return a maker of users with the given RBAC rules in the namespace, and no other right."""
    if not cluster.tokens:
        pytest.skip("this cluster has no users without rights")

    def make(rules: Sequence[JSON]) -> Path:
        user = next(_roles)
        objects.create("roles", {"metadata": {"name": user}, "rules": [*rules]})
        group = "rbac.authorization.k8s.io"
        binding = {
            "metadata": {"name": user},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": user},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        }
        objects.create("rolebindings", binding)
        return write_kubeconfig(user)

    return make


@pytest.fixture
def deployment(cluster: Cluster) -> Callable[..., JSON]:
    """Return the maker of Deployments, `tests.cluster.manifests.deployment`."""
    return functools.partial(manifests.deployment, scheduler_name=cluster.scheduler_name)


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[..., Path]:
    """Return a writer of manifests: `manifest(*objects)` gives the path of the file."""

    def write(*objects: JSON) -> Path:
        path = tmp_path / f"manifest-{next(_numbers)}.yaml"
        path.write_text(manifests.yaml_text(*objects))
        return path

    return write


@pytest.fixture
def scene(
    cluster: Cluster,
    objects: Objects,
    history: History,
    gate: CheckedGate,
    kubectl: Program,
    tmp_path: Path,
) -> Scene:
    """Return everything that a scenario plays with."""
    return Scene(cluster, objects, history, gate, kubectl, tmp_path)


@pytest.fixture
def policies(cluster: Cluster, objects: Objects) -> Policies:
    """Return the maker of admission policies for the test's namespace."""
    return Policies(cluster, objects)


@pytest.fixture
def plane(cluster: Cluster) -> ControlPlane:
    """Return the control plane, where this run has started it and may hold its servers."""
    if cluster.plane is None:
        pytest.skip("the servers of this cluster cannot be held")
    return cluster.plane
