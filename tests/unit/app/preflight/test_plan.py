"""Before the first write: what is asked, and what refuses an attempt; nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from gate.app.rehearsal.virtual_world import SERVER
from sandbox.face import JSON
from tests.bed.scene import OURS
from tests.unit.app.bodies import marked, settings, web
from tests.unit.app.conftest import Gate, assert_passed, assert_refused
from tests.unit.app.server import Server
from tests.unit.kube.scripted import as_json, as_status

KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
NAMESPACE: JSON = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}


# -- where are we ----------------------------------------------------------------------------------


@pytest.mark.contract("B246")
def test_the_place_is_said_before_anything_is_asked(gate: Gate, server: Server) -> None:
    """Server, context, namespace and user stand first, also where the server refuses us."""
    server.on("GET", KUBE_SYSTEM, as_status(401, "no"))
    ended = gate.apply(web())
    assert_refused(ended, server, "Unauthorized", f"{SERVER}, context sandbox, namespace shop")
    assert ended.document["timeline"][0]["event"] == "cluster"
    assert (ended.document["server"], ended.document["context"]) == (SERVER, "sandbox")


@pytest.mark.contract("B246")
def test_a_cluster_that_cannot_be_told_is_not_the_expected_one(gate: Gate, server: Server) -> None:
    """The uid of kube-system has to be the expected one, where there is one to expect."""
    path = gate.manifest(web())
    uid = server.get("namespaces", "kube-system")["metadata"]["uid"]
    ended = gate("preflight", file=[path], expect_cluster_uid=uid)
    assert_passed(ended, server)
    assert ended.document["cluster_uid"] == uid
    server.on("GET", KUBE_SYSTEM, as_status(403, 'cannot get resource "x"'))
    ended = gate("apply", file=[path], expect_cluster_uid=uid)
    assert_refused(ended, server, "Protected", "not readable")
    assert_passed(gate("preflight", file=[path]), server)


@pytest.mark.contract("B246")
def test_a_protected_namespace_is_not_made_either(gate: Gate, server: Server) -> None:
    """Not only what stands in it is refused."""
    flags = {"protected_namespace": ["prod", "new"], "allow_kind": ["Namespace"]}
    ended = gate.apply(NAMESPACE, **flags)
    assert_refused(ended, server, "Protected", "is protected")


@pytest.mark.contract("B9")
def test_a_namespace_that_goes_away_is_refused_though_the_manifest_makes_it(
    gate: Gate, server: Server
) -> None:
    """Nothing can be created in it any more."""
    held = {"metadata": {"name": "new", "finalizers": ["shop.test/hold"]}}
    server.objects.create("namespaces", held)
    server.objects.delete("namespaces", "new")
    path = gate.manifest(NAMESPACE, web(namespace="new"))
    ended = gate("apply", file=[path], allow_kind=["Namespace"])
    assert_refused(ended, server, "Rejected", "namespace new is being deleted")


@pytest.mark.contract("B226")
def test_a_namespace_may_be_made_by_the_manifest(gate: Gate, server: Server) -> None:
    """It is made first; what stands in it could not be tried before, and that is said."""
    path = gate.manifest(settings(namespace="new"), NAMESPACE)
    ended = gate("apply", file=[path], allow_kind=["Namespace"])
    assert (ended.code, ended.document["outcome"]) == (0, "applied"), ended.err
    assert [seen.path.split("/")[-1] for seen in server.writes()] == ["new", "settings"]
    assert "configmap/settings was not tried: its namespace does not exist yet" in ended.warnings


# -- what is there ---------------------------------------------------------------------------------


@pytest.mark.contract("B10", "B13")
@pytest.mark.parametrize(
    ("metadata", "manager", "evidence"),
    [
        ({"labels": {"helm.toolkit.fluxcd.io/name": "shop"}}, "", "Flux: label helm.toolkit"),
        ({}, "helm", "field manager helm"),
        ({}, "kustomize-controller", "field manager kustomize-controller"),
        ({}, "helm-controller", "field manager helm-controller"),
        ({}, "argocd-controller", "Argo CD: field manager argocd-controller"),
    ],
)
def test_what_another_tool_manages_is_refused(
    gate: Gate, server: Server, metadata: dict[str, Any], manager: str, evidence: str
) -> None:
    """The evidence is named and `verify` pointed to; --allow-managed goes on."""
    server.put(marked(web(), **metadata), manager=manager or OURS)
    ended = gate.apply(web("2"))
    assert_refused(ended, server, "GitOpsManaged", evidence, "rollout-gate verify web -n shop")
    given = {"allow_managed": True, "take_over": [manager] if manager else []}
    assert_passed(gate.preflight(web("2"), **given), server)


@pytest.mark.contract("B12")
def test_what_is_no_evidence_of_another_tool_refuses_nothing(gate: Gate, server: Server) -> None:
    """Labels that rendered charts carry, and a status, whose writer owns nothing applied."""
    labels = {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop"}
    server.put(marked(web(), labels=labels))
    seen = {"status": {"conditions": [{"type": "Seen", "status": "True"}]}}
    server.change(seen, manager="argocd-controller", subresource="status")
    assert_passed(gate.preflight(marked(web("2"), labels=labels)), server)


@pytest.mark.contract("B7")
def test_a_manifest_that_pauses_is_refused(gate: Gate, server: Server) -> None:
    """It would be held to the end of its budget."""
    ended = gate.apply(web("2", paused=True))
    assert_refused(ended, server, "Paused", "spec.paused out of the manifest")


@pytest.mark.contract("B48")
@pytest.mark.parametrize("scaled_by", ["the manifest", "somebody"])
def test_no_pods_are_refused_where_they_are_asked_for(
    gate: Gate, server: Server, scaled_by: str
) -> None:
    """--require-pods counts what would be: also replicas that the manifest leaves alone."""
    body = web("2", replicas=0)
    if scaled_by == "somebody":
        del body["spec"]["replicas"]
        server.put(web())
        server.change({"spec": {"replicas": 0}})
    ended = gate.apply(body, require_pods=True)
    assert_refused(ended, server, "Vacuous", "replicas: 0")


def resource_of(kind: str, namespaced: bool) -> JSON:
    """Return an entry of a group's discovery."""
    return {"name": f"{kind.lower()}s", "kind": kind, "namespaced": namespaced}


@pytest.mark.contract("B223")
def test_a_kind_that_the_manifest_defines_in_another_version_is_refused(
    gate: Gate, server: Server
) -> None:
    """It would not be served after the definition is written either, and that is said."""
    widget = {"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {"name": "one"}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.test"},
        "spec": {
            "group": "example.test",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v2", "served": True}, {"name": "v1", "served": False}],
        },
    }
    flags = {"allow_kind": ["Widget.example.test", "CustomResourceDefinition"]}
    ended = gate.apply(web(), widget, definition, **flags)
    assert_refused(ended, server, "NotFound", "definition of Widget serves no example.test/v1")


def test_the_server_knows_whether_a_custom_kind_has_a_namespace(gate: Gate, server: Server) -> None:
    """A cluster-scoped one is asked for without, a namespaced one with the default."""
    served = [resource_of("Zone", namespaced=False), resource_of("Widget", namespaced=True)]
    server.on("GET", "/apis/example.test/v1", as_json({"resources": served}))
    bodies = [
        {"apiVersion": "example.test/v1", "kind": kind, "metadata": {"name": "one"}}
        for kind in ("Zone", "Widget")
    ]
    flags = {"allow_kind": ["Zone.example.test", "Widget.example.test"]}
    prefix = "/apis/example.test/v1"
    paths = {f"{prefix}/zones/one", f"{prefix}/namespaces/shop/widgets/one"}
    for path in paths:
        server.on("GET", path, as_status(404, "not found", "NotFound"))
    gate.preflight(*bodies, **flags)
    assert paths <= {seen.path for seen in server.seen}


# -- would the server take it ----------------------------------------------------------------------


@pytest.mark.contract("B61", "B67")
def test_each_conflict_has_what_settles_it(gate: Gate, server: Server) -> None:
    """What kubectl applied is no conflict; a flag is named for whom it reaches, to be copied.

    What was written through a subresource stays its manager's: `kubectl scale` is one.
    """
    server.put(web(), manager="kubectl")
    server.change({"spec": {"replicas": 5}}, manager="kubectl", subresource="scale")
    server.change({"spec": {"minReadySeconds": 9}}, manager="a b")
    ended = gate.apply(web("2"))
    fields = ["manifest: .spec.", ".spec.replicas (kubectl)", ".spec.minReadySeconds (a b)"]
    ways = "--take-over 'a b'; --replicas keep leaves 5; --replicas apply makes it 2; or overwrite"
    assert_refused(ended, server, "Conflict", "deployment/web", *fields, ways, "--force-conflicts")
    assert ended.err.count("(kubectl") == 1


@pytest.mark.contract("B67")
def test_a_flag_that_would_not_help_is_not_offered(gate: Gate, server: Server) -> None:
    """Nothing that a scale wrote can be taken over."""
    server.put(web())
    server.change({"spec": {"replicas": 5}}, manager="kubectl", subresource="scale")
    ended = gate.apply(web("2"))
    assert_refused(
        ended, server, "Conflict", ".spec.replicas (kubectl)", "--replicas keep leaves 5"
    )
    assert "--take-over" not in ended.err


# -- in which order --------------------------------------------------------------------------------


DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"


@pytest.mark.contract("B2", "B5")
def test_everything_is_asked_before_the_first_write(gate: Gate, server: Server) -> None:
    """Cluster, namespace, objects, rights, both dry runs and baseline precede the first apply."""
    server.put(web())
    gate.apply(web("2"), settings())
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
def test_the_evidence_is_read_before_it_is_gone(gate: Gate, server: Server) -> None:
    """A rollback deletes the pods whose logs say why."""
    server.put(web())
    assert gate.apply(web("crash")).code == 4
    log = next(n for n, seen in enumerate(server.seen) if seen.path.endswith("/log"))
    assert log < server.seen.index(server.writes()[-1])


@pytest.mark.contract("B62")
def test_what_the_server_rejects_is_not_taken_over(gate: Gate, server: Server) -> None:
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
    ended = gate.apply(web("2"))
    assert (ended.code, ended.document["reason"]) == (3, "Rejected"), ended.err
    assert [trial.query["force"] for trial in server.trials()] == ["false", "true"]
    assert server.writes() == []
