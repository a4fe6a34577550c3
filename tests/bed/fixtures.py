"""The fixtures of scenarios, as a pytest plugin: `--bed` says on which bed they run.

A folder of tests that needs the real control plane gives a fixture `bed` of its own.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.bed.bed import Bed, Program
from tests.bed.checked_gate import CheckedGate, Place
from tests.bed.control_plane import control_plane_bed
from tests.bed.grounds import Ground, Grounds
from tests.bed.history import History
from tests.bed.lacking import lacks
from tests.bed.nodes import Nodes
from tests.bed.policies import Policies
from tests.bed.scene import Scene
from tests.cluster import manifests
from tests.cluster.audit import Trail
from tests.cluster.build import VERSION
from tests.cluster.cluster import Cluster
from tests.cluster.configuration import BY_NAME, PLAIN
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

SANDBOX, CONTROL_PLANE = "sandbox", "control-plane"
_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the bed be chosen."""
    what = "where scenarios run: the sandbox in virtual time, or a real control plane"
    parser.addoption("--bed", choices=[SANDBOX, CONTROL_PLANE], default=SANDBOX, help=what)
    what = "let crash walks kill at every request instead of at some"
    parser.addoption("--every-request", action="store_true", help=what)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out on the control plane what it is not asked to play, with the reason."""
    if config.getoption("bed") == SANDBOX:
        return
    left_out = {"sandbox_only": "in the sandbox alone"}
    if os.environ.get(VERSION):
        left_out["newest_only"] = f"not on Kubernetes {os.environ[VERSION]}"
    for item in items:
        for name, where in left_out.items():
            if mark := item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=f"{where}: {mark.args[0]}"))


@pytest.fixture(scope="session")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    """Return the real clusters of this run, none of which runs before it is asked for."""
    opened = Grounds(lambda name: tmp_path_factory.mktemp(f"cluster-{name}"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def cluster(grounds: Grounds) -> Cluster:
    """Return the plain real cluster; `ROLLOUT_GATE_E2E_KUBECONFIG` names one that runs."""
    return grounds.of(PLAIN).cluster


@pytest.fixture(scope="session")
def history(grounds: Grounds) -> History:
    """Return every version that the plain cluster's workloads go through in this run."""
    return grounds.of(PLAIN).history


@pytest.fixture
def ground(request: pytest.FixtureRequest, grounds: Grounds) -> Ground:
    """Return the real cluster of a test: the plain one, or that of its mark `configuration`."""
    mark = request.node.get_closest_marker("configuration")
    return grounds.of(BY_NAME[mark.args[0]] if mark else PLAIN)


@pytest.fixture
def bed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bed]:
    """Return the bed of this run, as one test sees it."""
    if request.config.getoption("bed") == SANDBOX:
        from tests.played.bed import sandbox_bed

        monkeypatch.chdir(tmp_path)  # where the programs of the other bed run
        at_length = request.node.get_closest_marker("sandbox_only") is not None
        opened = sandbox_bed(tmp_path, at_length=at_length)
    else:
        ground = request.getfixturevalue("ground")
        opened = control_plane_bed(ground.cluster, ground.history, request.node.name, tmp_path)
    with opened as ready:
        yield ready


@pytest.fixture
def objects(bed: Bed) -> Objects:
    """Return the objects of the test's namespace."""
    return bed.objects


@pytest.fixture
def namespace(objects: Objects) -> str:
    """Return the name of the test's namespace."""
    return objects.namespace


@pytest.fixture
def audit(bed: Bed) -> Trail:
    """Return what the API server is asked from now on."""
    if bed.audit is None:
        lacks("the audit log of this cluster cannot be read")
    return Trail(bed.audit, bed.audit.mark())


@pytest.fixture
def gate(bed: Bed) -> CheckedGate:
    """Return the gate with every right, in the test's folder and namespace.

    Each run is held against the invariants when it ends (`tests.bed.invariants`).
    """
    program, secrets = bed.users.everything()
    return CheckedGate(program, Place.of(bed), secrets)


@pytest.fixture
def gate_with_rules(bed: Bed) -> Callable[[Sequence[JSON]], CheckedGate]:
    """Return a maker of gates with the given RBAC rules in the namespace, and no other right."""

    def make(rules: Sequence[JSON]) -> CheckedGate:
        program, secrets = bed.users.with_rules(rules)
        return CheckedGate(program, Place.of(bed), secrets)

    return make


@pytest.fixture
def kubectl(bed: Bed) -> Program:
    """Return kubectl as the administrator, in the test's folder and namespace."""
    return bed.kubectl


@pytest.fixture
def policies(bed: Bed) -> Policies:
    """Return the maker of admission policies for the test's namespace."""
    return bed.policies


@pytest.fixture
def nodes(bed: Bed) -> Iterator[Nodes]:
    """Return the maker of nodes for the DaemonSets of the test."""
    if bed.scheduler_name:
        lacks("nodes cannot join this cluster")
    made = Nodes(bed.client, bed.objects)
    yield made
    made.close()


@pytest.fixture
def scene(bed: Bed, gate: CheckedGate) -> Scene:
    """Return everything that a scenario plays with."""
    return Scene(
        bed.client, bed.objects, bed.history, gate, bed.kubectl, bed.folder, bed.scheduler_name
    )


@pytest.fixture
def deployment(bed: Bed) -> Callable[..., JSON]:
    """Return the maker of Deployments, `tests.cluster.manifests.deployment`."""
    return functools.partial(manifests.deployment, scheduler_name=bed.scheduler_name)


@pytest.fixture
def manifest(bed: Bed) -> Callable[..., Path]:
    """Return a writer of manifests: `manifest(*objects)` gives the path of the file."""

    def write(*objects: JSON) -> Path:
        path = bed.folder / f"manifest-{next(_numbers)}.yaml"
        path.write_text(manifests.yaml_text(*objects))
        return path

    return write
