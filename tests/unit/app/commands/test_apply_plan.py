"""What `apply` sends, in which order, and on which conditions."""

from __future__ import annotations

import pytest

from tests.unit.app.bodies import settings, web
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import Server
from tests.unit.kube.scripted import as_status

DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"


@pytest.mark.contract("B16", "B20", "B125")
def test_a_new_version_is_one_apply(gate: Gate, server: Server, manifest: Manifest) -> None:
    """Under our own name, without force, with the uid and version that it was decided on."""
    server.put(web())
    before = server.get("deployments", "web")["metadata"]
    assert gate("apply", file=[manifest(web("2"))]).code == 0
    (apply,) = server.writes()
    assert apply.header("Content-Type") == "application/apply-patch+yaml"
    assert (apply.query["fieldManager"], apply.query["force"]) == ("rollout-gate", "false")
    sent = apply.json()["metadata"]
    assert {key: sent[key] for key in ("uid", "resourceVersion")} == {
        key: before[key] for key in ("uid", "resourceVersion")
    }


@pytest.mark.contract("B2", "B5")
def test_everything_is_asked_before_the_first_write(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Cluster, namespace, objects, rights, both dry runs and baseline precede the first apply."""
    server.put(web())
    gate("apply", file=[manifest(web("2"), settings())])
    first, second = server.writes()
    asked = [
        (seen.method, seen.path.rpartition("/")[2])
        for seen in server.seen[: server.seen.index(first)]
    ]
    in_order = [
        ("GET", "kube-system"),
        ("GET", "shop"),
        ("GET", "web"),
        ("GET", "horizontalpodautoscalers"),
        ("POST", "selfsubjectrulesreviews"),
        ("PATCH", "web"),
        ("PATCH", "web"),
    ]
    assert [one for one in asked if one in in_order] == in_order
    assert {("GET", "deployments"), ("GET", "replicasets"), ("GET", "pods")} <= set(asked)
    assert [seen.path.rpartition("/")[2] for seen in (first, second)] == ["settings", "web"]


@pytest.mark.contract("B24", "B120", "B172")
def test_the_evidence_is_read_before_it_is_gone(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """A rollback deletes the pods whose logs say why."""
    server.put(web())
    assert gate("apply", file=[manifest(web("crash"))]).code == 4
    log = next(n for n, seen in enumerate(server.seen) if seen.path.endswith("/log"))
    assert log < server.seen.index(server.writes()[-1])


@pytest.mark.contract("B62")
def test_what_the_server_rejects_is_not_taken_over(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """The patch of kubectl's managed fields waits for a dry run that passes."""
    server.put(web(), manager="kubectl")
    conflict = {"reason": "FieldManagerConflict", "field": ".spec.replicas"}
    conflict["message"] = 'conflict with "kubectl"'
    server.on(
        "PATCH",
        DEPLOYMENT,
        as_status(409, "conflict", "Conflict", causes=[conflict]),
        as_status(422, "Deployment web is invalid", "Invalid"),
    )
    ended = gate("apply", file=[manifest(web("2"))])
    assert (ended.code, ended.document["reason"]) == (3, "Rejected"), ended.err
    assert [trial.query["force"] for trial in server.trials()] == ["false", "true"]
    assert server.writes() == []
