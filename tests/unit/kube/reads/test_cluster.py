"""Facts about the cluster are known, absent or unknown, one request each."""

from __future__ import annotations

import pytest

from gate.core.model.fact import Absent, Known, Unknown
from gate.kube.answers.failures import NotFound
from gate.kube.client.client import Client
from gate.kube.reads.cluster import Cluster
from tests.unit.kube.scripted import Reply, ScriptedServer, as_json, as_status

SHOP = "/api/v1/namespaces/shop"
SYSTEM = "/api/v1/namespaces/kube-system"
REFUSED = as_status(403, 'User "u" cannot get resource "namespaces" in API group ""')


def test_the_version(client: Client, server: ScriptedServer) -> None:
    """The server's version is that of /version; a server without one is none."""
    server.on("GET", "/version", as_json({"gitVersion": "v1.36.3"}))
    assert Cluster(client).version() == "v1.36.3"
    server.on("GET", "/version", Reply(body=b"<html>"))
    with pytest.raises(NotFound, match="is it a Kubernetes API server"):
        Cluster(client).version()


def test_the_uid(client: Client, server: ScriptedServer) -> None:
    """A cluster is identified by the uid of kube-system, where it may be read."""
    server.on("GET", SYSTEM, as_json({"metadata": {"uid": "c-1"}}), REFUSED)
    assert Cluster(client).uid() == Known("c-1")
    assert isinstance(Cluster(client).uid(), Unknown)


def test_a_namespace(client: Client, server: ScriptedServer) -> None:
    """A namespace lives, goes, is not there, or nobody may tell."""
    going = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    made_at = "2026-01-01T00:00:00Z"
    server.on("GET", SHOP, as_json({"metadata": {}}), as_json(going), as_status(404), REFUSED)
    cluster = Cluster(client)
    assert [cluster.terminating("shop") for _ in range(3)] == [Known(False), Known(True), Absent()]
    assert isinstance(cluster.terminating("shop"), Unknown)
    server.on("GET", SHOP, as_json({"metadata": {"creationTimestamp": made_at}}), as_status(404))
    assert [cluster.created_at("shop") for _ in range(2)] == [Known(made_at), Absent()]
