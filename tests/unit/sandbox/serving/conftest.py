"""A whole cluster in virtual time."""

from __future__ import annotations

import pytest

from sandbox.cluster import Cluster, ClusterOptions
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
