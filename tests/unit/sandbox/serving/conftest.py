"""A whole cluster in virtual time, and what is put into it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.cluster import Cluster, ClusterOptions
from sandbox.json import JSON
from sandbox.serving.handle import AuditEntry
from sandbox.times import Names, Timers
from tests.unit.sandbox.bed import STARTED
from tests.unit.sandbox.serving.client import Client


@pytest.fixture
def client() -> Client:
    """Return the administrator of a fresh cluster."""
    entries: list[AuditEntry] = []
    options = ClusterOptions(admin_token="admin-token", heard=entries.append)
    cluster = Cluster(Timers(STARTED), Names(1), options)
    client = Client(cluster, entries)
    client.pass_seconds(1.0)
    return client


@pytest.fixture
def config_map() -> Callable[..., JSON]:
    """Return a maker of ConfigMaps."""

    def make(name: str = "settings", **data: str) -> JSON:
        metadata = {"name": name}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    return make
