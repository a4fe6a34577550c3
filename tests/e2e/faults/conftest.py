"""The gate behind a proxy that fails: everything else is the real control plane."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
import yaml

from tests.bed.bed import Bed
from tests.bed.checked_gate import CheckedGate
from tests.bed.control_plane import ClusterUsers
from tests.bed.lacking import lacks
from tests.cluster import access
from tests.cluster.access import Certificate
from tests.cluster.cluster import Cluster
from tests.faults.proxy import Proxy
from tests.faults.script import Rule, Script


class Play(Protocol):
    """Makes the proxy go by rules."""

    def __call__(self, *rules: Rule, seed: int = 0) -> None:
        """From the next request on."""


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Return the proxy's own certificate."""
    return access.self_signed(tmp_path_factory.mktemp("proxy"))


@pytest.fixture
def proxy(cluster: Cluster, certificate: Certificate) -> Iterator[Proxy]:
    """Return a proxy in front of the API server; nothing fails before a test says so."""
    if not cluster.tokens:
        lacks("its users have no token that could pass through a proxy")
    document = yaml.safe_load(cluster.admin_kubeconfig.read_text())
    authority = Path(document["clusters"][0]["cluster"]["certificate-authority"])
    with Proxy(cluster.api.server, authority, certificate) as ready:
        yield ready


@pytest.fixture
def kubeconfig(users: ClusterUsers, proxy: Proxy) -> Path:
    """Return a kubeconfig that leads to the proxy, and trusts it alone."""
    path = users.write_kubeconfig(server=proxy.url)
    document = yaml.safe_load(path.read_text())
    [cluster] = document["clusters"]
    cluster["cluster"]["certificate-authority"] = str(proxy.certificate.certificate)
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.fixture
def gate(users: ClusterUsers, bed: Bed, kubeconfig: Path) -> CheckedGate:
    """Return the gate with every right, behind the proxy, in the place of the direct one."""
    return users.gate(bed, kubeconfig)


@pytest.fixture
def play(proxy: Proxy) -> Play:
    """Return what makes the proxy fail."""
    return lambda *rules, seed=0: proxy.play(Script(rules, seed=seed))
