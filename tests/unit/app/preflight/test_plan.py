"""Before the first write: what refuses an attempt, what is warned of; nothing is written."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from gate.app.rehearsal.virtual_world import SERVER
from sandbox.face import JSON
from tests.bed.bed import Bed
from tests.bed.scene import OURS
from tests.cluster.workloads import daemon_set, job, stateful_set
from tests.unit.app.bodies import marked, service, settings, web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen, as_json, as_status

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"
NAMESPACE: JSON = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}


def assert_refused(ended: Ended, server: Server, reason: str, *words: str, code: int = 3) -> None:
    """The end says so on stderr and in the document, and nothing was written."""
    assert server.writes() == []
    document = ended.document
    found = (ended.code, document["exit_code"], document["outcome"], document["reason"])
    assert found == (code, code, "refused" if code == 3 else "usage", reason), ended.err
    for word in words:
        assert word in ended.err


def assert_passed(ended: Ended, server: Server) -> None:
    """Nothing refused the manifest, and nothing was written."""
    assert server.writes() == []
    assert ended.code == 0, ended.err
    assert ended.document["outcome"] == "observed"


def warnings(ended: Ended) -> list[str]:
    """Return the warnings of a document."""
    found: list[str] = ended.document["warnings"]
    return found


# -- where are we ----------------------------------------------------------------------------------


@pytest.mark.contract("B246")
def test_the_place_is_said_before_anything_is_asked(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Server, context, namespace and user stand first, also where the server refuses us."""
    server.on("GET", KUBE_SYSTEM, as_status(401, "no"))
    ended = gate("apply", file=[manifest(web())])
    assert_refused(ended, server, "Unauthorized", f"{SERVER}, context sandbox, namespace shop")
    assert ended.document["timeline"][0]["event"] == "cluster"
    assert (ended.document["server"], ended.document["context"]) == (SERVER, "sandbox")


@pytest.mark.contract("B246")
def test_a_cluster_that_cannot_be_told_is_not_the_expected_one(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """The uid of kube-system has to be the expected one, where there is one to expect."""
    path = manifest(web())
    uid = server.get("namespaces", "kube-system")["metadata"]["uid"]
    ended = gate("preflight", file=[path], expect_cluster_uid=uid)
    assert_passed(ended, server)
    assert ended.document["cluster_uid"] == uid
    server.on("GET", KUBE_SYSTEM, as_status(403, 'cannot get resource "x"'))
    ended = gate("apply", file=[path], expect_cluster_uid=uid)
    assert_refused(ended, server, "Protected", "not readable")
    assert_passed(gate("preflight", file=[path]), server)


@pytest.mark.contract("B246")
def test_a_protected_namespace_is_not_made_either(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Not only what stands in it is refused."""
    flags = {"protected_namespace": ["prod", "new"], "allow_kind": ["Namespace"]}
    ended = gate("apply", file=[manifest(NAMESPACE)], **flags)
    assert_refused(ended, server, "Protected", "is protected")


@pytest.mark.contract("B9")
def test_a_namespace_that_goes_away_is_refused_though_the_manifest_makes_it(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Nothing can be created in it any more."""
    held = {"metadata": {"name": "new", "finalizers": ["shop.test/hold"]}}
    server.objects.create("namespaces", held)
    server.objects.delete("namespaces", "new")
    path = manifest(NAMESPACE, web(namespace="new"))
    ended = gate("apply", file=[path], allow_kind=["Namespace"])
    assert_refused(ended, server, "Rejected", "namespace new is being deleted")


@pytest.mark.contract("B226")
def test_a_namespace_may_be_made_by_the_manifest(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """It is made first; what stands in it could not be tried before, and that is said."""
    path = manifest(settings(namespace="new"), NAMESPACE)
    ended = gate("apply", file=[path], allow_kind=["Namespace"])
    assert (ended.code, ended.document["outcome"]) == (0, "applied"), ended.err
    assert [seen.path.split("/")[-1] for seen in server.writes()] == ["new", "settings"]
    assert "configmap/settings was not tried: its namespace does not exist yet" in warnings(ended)


# -- may we ----------------------------------------------------------------------------------------


@pytest.mark.contract("B2")
@pytest.mark.parametrize("command", ["apply", "undo", "restart", "pause", "resume"])
def test_where_not_even_reading_is_allowed_all_is_named_too(
    gate: Gate, server: Server, manifest: Manifest, command: str
) -> None:
    """The first answer 403 is not all that is said."""
    server.limit()
    given = {"file": [manifest(web())]} if command == "apply" else {}
    ended = gate(command, *([] if given else ["web"]), **given)
    assert_refused(ended, server, "Forbidden", "get deployments.apps", "patch deployments.apps")


@pytest.mark.contract("B2")
def test_a_right_to_delete_is_needed_only_where_something_may_be_deleted(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """With --prune-created, what is new may have to go again."""
    verbs = ["get", "list", "watch", "create", "patch"]
    server.limit({"verbs": verbs, "apiGroups": ["*"], "resources": ["*"]})
    path = manifest(web(), settings())
    assert_passed(gate("preflight", file=[path]), server)
    ended = gate("preflight", file=[path], prune_created=True)
    assert_refused(ended, server, "Forbidden", "delete configmaps", "delete deployments.apps")


def printed_rights(ended: Ended) -> set[tuple[str, str]]:
    """Return resource and verb of each right in a printed Role."""
    role, *_ = yaml.safe_load_all(ended.out)
    return {
        (resource, verb)
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.contract("B200", "B709")
def test_the_role_for_a_manifest_asks_for_no_more_than_it_needs(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Rights on Secrets alone where some are kept; what they are for stands beside them."""
    server.limit()
    keys = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}
    plain = gate("preflight", file=[manifest(web(), service())], rbac=True, prune_created=True)
    assert (plain.code, server.writes()) == (0, [])
    rights = printed_rights(plain)
    assert {("deployments", "patch"), ("services", "delete"), ("pods/log", "get")} <= rights
    assert {("horizontalpodautoscalers", "list"), ("leases", "list")} <= rights
    assert "secrets" not in {resource for resource, _ in rights}
    secret = gate("preflight", file=[manifest(web(), keys)], rbac=True)
    assert ("secrets", "delete") in printed_rights(secret)
    assert "# delete of secrets: what a Secret was is kept" in secret.out
    kept = gate("preflight", file=[manifest(web())], rbac=True, keep_verified_secrets=True)
    verbs = {verb for resource, verb in printed_rights(kept) if resource == "secrets"}
    assert verbs == {"create", "get", "patch"}


@pytest.mark.contract("B1120")
@pytest.mark.parametrize(
    ("body", "is_scalable"),
    [(stateful_set(), True), (daemon_set(), False), (job(), False)],
    ids=["StatefulSet", "DaemonSet", "Job"],
)
def test_autoscalers_are_looked_for_where_one_could_scale(
    gate: Gate, server: Server, manifest: Manifest, body: JSON, *, is_scalable: bool
) -> None:
    """What has no number of replicas needs neither the two requests nor the rights."""
    path = manifest(marked(body, namespace="shop"))
    assert_passed(gate("preflight", file=[path]), server)
    asked = {seen.path.rpartition("/")[2] for seen in server.seen}
    scalers = {"horizontalpodautoscalers", "scaledobjects"}
    assert asked & scalers == (scalers if is_scalable else set())
    server.limit()
    rights = printed_rights(gate("preflight", file=[path], rbac=True))
    assert {resource for resource, _ in rights} & scalers == (scalers if is_scalable else set())


@pytest.mark.contract("B1470")
def test_the_role_for_a_generated_name_is_named_alike_at_each_run(
    gate: Gate, manifest: Manifest
) -> None:
    """Else each `kubectl apply` of it would leave another Role behind."""
    body = job()
    body["metadata"] = {"generateName": "migrate-", "namespace": "shop"}
    path = manifest(body, web())
    first, again = (gate("preflight", file=[path], rbac=True) for _ in range(2))
    assert first.out == again.out
    assert "name: rollout-gate-job-migrate}" in first.out


RBAC = "rbac.authorization.k8s.io"
ROLE = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "Role",
    "metadata": {"name": "reader", "namespace": "shop"},
    "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
}
BINDING = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "readers", "namespace": "shop"},
    "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"},
}


@pytest.mark.contract("B200")
def test_the_rights_to_grant_rights_are_of_one_role_each(gate: Gate, manifest: Manifest) -> None:
    """On all of them it would be every right there is."""
    kinds = ("Role", "RoleBinding")
    ended = gate("preflight", file=[manifest(web(), ROLE, BINDING)], rbac=True, allow_kind=kinds)
    role, *_ = yaml.safe_load_all(ended.out)
    grants = [rule for rule in role["rules"] if {"bind", "escalate"} & set(rule["verbs"])]
    api = {"apiGroups": [RBAC]}
    assert grants == [
        api | {"resources": ["clusterroles"], "resourceNames": ["view"], "verbs": ["bind"]},
        api | {"resources": ["roles"], "resourceNames": ["reader"], "verbs": ["escalate"]},
    ]


@pytest.mark.contract("B200")
@pytest.mark.parametrize(
    ("given", "first_line", "name"),
    [
        ({"rbac_subject": "user:jane"}, "# for User jane, as --rbac-subject says", "jane"),
        ({}, "# for User ci, who asked for this; --rbac-subject names somebody else", "ci"),
        (None, "# for ServiceAccount rollout-gate, a placeholder, since ", "rollout-gate"),
    ],
    ids=["named", "who asks", "unknown"],
)
def test_nobody_is_made_up_for_a_printed_role(
    gate: Gate,
    server: Server,
    manifest: Manifest,
    given: dict[str, str] | None,
    first_line: str,
    name: str,
) -> None:
    """It is for whom one says, else for who asks; a server that does not say gets a placeholder."""
    who = as_json({"status": {"userInfo": {"username": "ci"}}}, 201)
    answer = as_status(404, "not found", "NotFound") if given is None else who
    server.on("POST", WHO_AM_I, answer)
    for command, names in (("preflight", ()), ("verify", (("web",),))):
        more = {"file": [manifest(web())]} if command == "preflight" else {}
        ended = gate(command, *names, rbac=True, **more, **(given or {}))
        assert ended.out.startswith(first_line)
        *_, binding = yaml.safe_load_all(ended.out)
        assert binding["subjects"][0]["name"] == name


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
    gate: Gate,
    server: Server,
    manifest: Manifest,
    metadata: dict[str, Any],
    manager: str,
    evidence: str,
) -> None:
    """The evidence is named and `verify` pointed to; --allow-managed goes on."""
    server.put(marked(web(), **metadata), manager=manager or OURS)
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "GitOpsManaged", evidence, "rollout-gate verify web -n shop")
    given = {"allow_managed": True, "take_over": [manager] if manager else []}
    assert_passed(gate("preflight", file=[manifest(web("2"))], **given), server)


@pytest.mark.contract("B12")
def test_what_is_no_evidence_of_another_tool_refuses_nothing(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Labels that rendered charts carry, and a status, whose writer owns nothing applied."""
    labels = {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop"}
    server.put(marked(web(), labels=labels))
    seen = {"status": {"conditions": [{"type": "Seen", "status": "True"}]}}
    server.change(seen, manager="argocd-controller", subresource="status")
    assert_passed(gate("preflight", file=[manifest(marked(web("2"), labels=labels))]), server)


@pytest.mark.contract("B7")
def test_a_manifest_that_pauses_is_refused(gate: Gate, server: Server, manifest: Manifest) -> None:
    """It would be held to the end of its budget."""
    ended = gate("apply", file=[manifest(web("2", paused=True))])
    assert_refused(ended, server, "Paused", "spec.paused out of the manifest")


@pytest.mark.contract("B48")
@pytest.mark.parametrize("scaled_by", ["the manifest", "somebody"])
def test_no_pods_are_refused_where_they_are_asked_for(
    gate: Gate, server: Server, manifest: Manifest, scaled_by: str
) -> None:
    """--require-pods counts what would be: also replicas that the manifest leaves alone."""
    body = web("2", replicas=0)
    if scaled_by == "somebody":
        del body["spec"]["replicas"]
        server.put(web())
        server.change({"spec": {"replicas": 0}})
    ended = gate("apply", file=[manifest(body)], require_pods=True)
    assert_refused(ended, server, "Vacuous", "replicas: 0")


def resource_of(kind: str, namespaced: bool) -> JSON:
    """Return an entry of a group's discovery."""
    return {"name": f"{kind.lower()}s", "kind": kind, "namespaced": namespaced}


@pytest.mark.contract("B223")
def test_a_kind_that_the_manifest_defines_in_another_version_is_refused(
    gate: Gate, server: Server, manifest: Manifest
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
    ended = gate("apply", file=[manifest(web(), widget, definition)], **flags)
    assert_refused(ended, server, "NotFound", "definition of Widget serves no example.test/v1")


def test_the_server_knows_whether_a_custom_kind_has_a_namespace(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
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
    gate("preflight", file=[manifest(*bodies)], **flags)
    assert paths <= {seen.path for seen in server.seen}


# -- would the server take it ----------------------------------------------------------------------


@pytest.mark.contract("B61", "B67")
def test_each_conflict_has_what_settles_it(gate: Gate, server: Server, manifest: Manifest) -> None:
    """What kubectl applied is no conflict; a flag is named for whom it reaches, to be copied.

    What was written through a subresource stays its manager's: `kubectl scale` is one.
    """
    server.put(web(), manager="kubectl")
    server.change({"spec": {"replicas": 5}}, manager="kubectl", subresource="scale")
    server.change({"spec": {"minReadySeconds": 9}}, manager="a b")
    ended = gate("apply", file=[manifest(web("2"))])
    fields = ["manifest: .spec.", ".spec.replicas (kubectl)", ".spec.minReadySeconds (a b)"]
    ways = "--take-over 'a b'; leave .spec.replicas out of the manifest; or overwrite"
    assert_refused(ended, server, "Conflict", "deployment/web", *fields, ways, "--force-conflicts")
    assert ended.err.count("(kubectl") == 1


@pytest.mark.contract("B61", "B67")
def test_only_foreign_fields_are_in_the_way(
    gate: Gate, bed: Bed, server: Server, manifest: Manifest
) -> None:
    """What kubectl applied is taken over by itself, and not named beside the stranger's."""
    bed.kubectl("apply", "-f", manifest(web()), check=True)
    server.change({"spec": {"replicas": 5}}, manager="kubectl-edit")
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "Conflict", "--take-over kubectl-edit;")
    assert "kubectl-client-side-apply" not in ended.err


@pytest.mark.contract("B67")
def test_a_flag_that_would_not_help_is_not_offered(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Nothing that a scale wrote can be taken over."""
    server.put(web())
    server.change({"spec": {"replicas": 5}}, manager="kubectl", subresource="scale")
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "Conflict", ".spec.replicas (kubectl)", "leave them out")
    assert "--take-over" not in ended.err


@pytest.mark.contract("B6")
@pytest.mark.parametrize("command", ["apply", "restart"])
def test_a_webhook_that_takes_no_dry_run_is_a_warning(
    gate: Gate, server: Server, manifest: Manifest, command: str
) -> None:
    """The attempt goes on, and says what it could not try."""
    server.put(web())
    said = 'admission webhook "audit.example.test" does not support dry run'

    def answered(seen: Seen) -> None:
        if seen.query.get("dryRun") == "All":
            server.on("PATCH", DEPLOYMENT, as_status(400, said, "BadRequest"))
        else:
            server.forget("PATCH", DEPLOYMENT)

    server.on_request = answered
    given = {"file": [manifest(web("2"))]} if command == "apply" else {}
    ended = gate(command, *([] if given else ["web"]), **given)
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert f"deployment/web was not tried: {said}" in warnings(ended)


# -- what looks unwise -----------------------------------------------------------------------------


@pytest.mark.contract("B57")
def test_configuration_alone_is_warned_of(gate: Gate, server: Server, manifest: Manifest) -> None:
    """Running pods do not pick it up; not where a pod template changes too."""
    server.put(web(), settings("one"))
    alone = "only configuration changes (configmap/settings): running pods may not"

    def warned(*objects: JSON) -> bool:
        ended = gate("preflight", file=[manifest(*objects)], silence=["all"])
        return any(warning.startswith(alone) for warning in warnings(ended))

    assert warned(web(), settings("two"))
    assert warned(settings("two"))
    assert not warned(web("2"), settings("two"))
    assert not warned(web(), settings("one"))


@pytest.mark.contract("B1461")
@pytest.mark.parametrize(
    ("container", "is_named"),
    [
        ({"envFrom": [{"configMapRef": {"name": "settings"}}]}, True),
        ({"envFrom": [{"secretRef": {"name": "settings"}}]}, False),
        ({"envFrom": [{"configMapRef": {"name": "others"}}]}, False),
    ],
)
def test_pods_that_keep_their_environment_are_named(
    gate: Gate, server: Server, manifest: Manifest, container: JSON, *, is_named: bool
) -> None:
    """Beside another workload, which changes and whose pods start anew."""
    reader, other = web(), web()
    reader["spec"]["template"]["spec"]["containers"][0] |= container
    other["metadata"]["name"] = "other"
    server.put(reader, other, settings("one"))
    changed = copy.deepcopy(other)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/other:2"
    path = manifest(reader, changed, settings("two"))
    found = warnings(gate("preflight", file=[path], silence=["all"]))
    keeps = "deployment/web: its pods keep configmap/settings in their environment as it was"
    assert any(one.startswith(keeps) and "rollout-gate restart" in one for one in found) == is_named
    assert not any("deployment/other: its pods keep" in one for one in found)


@pytest.mark.contract("B229")
def test_the_lint_warns_and_can_be_silenced(gate: Gate, manifest: Manifest) -> None:
    """Warnings name the place and the code that silences them."""
    path = manifest(web("latest", replicas=1))
    found = " ".join(warnings(gate("preflight", file=[path])))
    assert "web.yaml:1: deployment/web" in found
    assert "[mutable-tag]" in found
    assert "[one-replica]" in found
    assert warnings(gate("preflight", file=[path], silence=["all"])) == []


@pytest.mark.contract("B108")
def test_a_timeout_that_cannot_suffice_is_warned_of(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """It is shorter than the deadline, or than the steps take that the rollout has."""
    body = web(replicas=40, minReadySeconds=60, progressDeadlineSeconds=70)
    path = manifest(body)

    def warned(**flags: Any) -> list[str]:
        return warnings(gate("preflight", file=[path], **flags))

    steps = "deployment/web: its 2 steps take 2m2s at least, longer than a timeout of 2m"
    assert warned(timeout="120s") == [steps]
    assert len(warned(timeout="60s")) == 2
    assert warned(timeout="123s") == warned() == []
    assert warned(timeout="60s", silence=["timeout-before-deadline"]) == []
    server.put(body)
    assert warned(timeout="120s") == []
