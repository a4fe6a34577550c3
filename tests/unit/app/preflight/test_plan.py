"""Before the first write: everything that refuses an attempt, and that a refusal writes nothing."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import yaml

from gate.kube.resource import Resource
from tests.long import longer
from tests.unit.app.bodies import autoscaler, marked, service, settings, web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.server import ALL_RULES, JSON, ApiServer
from tests.unit.app.server_side import entry, managed_by
from tests.unit.app.wire import URL
from tests.unit.kube.scripted import Answer, Drop, Hang, as_status

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"
SCALERS = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"
PODS = "/api/v1/namespaces/shop/pods"
NAMESPACE: JSON = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}


def assert_refused(
    ended: Ended, server: ApiServer, reason: str, *words: str, code: int = 3
) -> None:
    """The end says so on stderr and in the document, and nothing was written."""
    assert server.writes() == []
    assert ended.code == code, ended.err
    document = ended.document
    assert (document["outcome"], document["reason"]) == (
        "refused" if code == 3 else "usage",
        reason,
    )
    assert document["exit_code"] == code
    for word in words:
        assert word in ended.err
    assert "Traceback" not in ended.err


def assert_passed(ended: Ended, server: ApiServer) -> None:
    """Nothing refused the manifest, and nothing was written."""
    assert server.writes() == []
    assert ended.code == 0, ended.err
    assert ended.document["outcome"] == "observed"


def run(gate: Gate, command: str, path: str) -> Ended:
    """Run a command on a manifest, or on the Deployment in it."""
    return gate(command, file=[path]) if command == "apply" else gate(command, "web")


def warnings(ended: Ended) -> list[str]:
    """Return the warnings but that of the test's plain HTTP."""
    found: list[str] = ended.document["warnings"]
    return [warning for warning in found if "the server is not verified" not in warning]


# -- where are we ----------------------------------------------------------------------------------


@pytest.mark.contract("B1", "B22")
def test_a_wrong_manifest_asks_the_server_nothing(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What is wrong with the files is found before the first request."""
    path = manifest({"kind": "ConfigMap", "metadata": {"name": "x"}})
    assert_refused(gate("apply", file=[path]), server, "Usage", "apiVersion", code=2)
    assert server.seen == []


@pytest.mark.contract("B246")
def test_the_place_is_said_before_anything_is_asked(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Server, context, namespace and user stand first, also where the server refuses us."""
    server.on("GET", "/api/v1/namespaces/kube-system", as_status(401, "no"))
    ended = gate("apply", file=[manifest(web())])
    assert_refused(ended, server, "Unauthorized", f"{URL}, context here, namespace shop, user ci")
    first = ended.document["timeline"][0]
    assert first["event"] == "cluster"
    assert (ended.document["server"], ended.document["context"]) == (URL, "here")


@pytest.mark.contract("B246")
def test_another_cluster_is_refused(gate: Gate, server: ApiServer, manifest: Manifest) -> None:
    """The uid of kube-system has to be the expected one."""
    uid = server.get("Namespace", "kube-system")["metadata"]["uid"]
    ended = gate("apply", file=[manifest(web())], expect_cluster_uid="another")
    assert_refused(ended, server, "Protected", uid, "another")
    ended = gate("preflight", file=[manifest(web())], expect_cluster_uid=uid)
    assert_passed(ended, server)
    assert ended.document["cluster_uid"] == uid


@pytest.mark.contract("B246")
def test_a_cluster_that_cannot_be_told_is_not_the_expected_one(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Without the right to read kube-system the check refuses; without the check it goes on."""
    server.on("GET", "/api/v1/namespaces/kube-system", as_status(403, 'cannot get resource "x"'))
    ended = gate("apply", file=[manifest(web())], expect_cluster_uid="mine")
    assert_refused(ended, server, "Protected", "not readable")
    assert_passed(gate("preflight", file=[manifest(web())]), server)


@pytest.mark.contract("B246")
@pytest.mark.parametrize("objects", [(web(namespace=None),), (NAMESPACE,)])
def test_a_protected_namespace_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest, objects: tuple[JSON, ...]
) -> None:
    """Objects in it are refused, and the namespace itself."""
    flags = {"protected_namespace": ["prod", "shop", "new"], "allow_kind": ["Namespace"]}
    ended = gate("apply", file=[manifest(*objects)], **flags)
    assert_refused(ended, server, "Protected", "is protected")


@pytest.mark.contract("B231")
def test_a_namespace_that_is_not_there_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It is named, with the way to make it."""
    ended = gate("apply", file=[manifest(web(namespace="nowhere"))])
    assert_refused(ended, server, "NotFound", "kubectl create namespace nowhere")


@pytest.mark.contract("B9")
@pytest.mark.parametrize("made_here", [False, True])
def test_a_namespace_that_goes_away_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest, made_here: bool
) -> None:
    """Nothing can be created in it any more, not even by a manifest that names it."""
    going = marked(NAMESPACE, deletionTimestamp="2026-11-21T11:00:00Z")
    server.put(going)
    objects = (NAMESPACE, web(namespace="new")) if made_here else (web(namespace="new"),)
    ended = gate("apply", file=[manifest(*objects)], allow_kind=["Namespace"])
    assert_refused(ended, server, "Rejected", "namespace new is being deleted")


@pytest.mark.contract("B9")
@pytest.mark.parametrize("command", ["apply", "preflight", "undo", "restart", "resume", "pause"])
def test_a_deployment_that_goes_away_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest, command: str
) -> None:
    """Its controller rolls out nothing any more: nothing is written to it."""
    server.put(web("1"))
    going = {"deletionTimestamp": "2026-11-21T11:00:00Z", "finalizers": ["shop.test/hold"]}
    server.put(marked(web("2"), **going))
    if command in ("apply", "preflight"):
        ended = gate(command, file=[manifest(web("3"))])
    else:
        ended = gate(command, "web")
    message = "deployment/web is being deleted; it waits for shop.test/hold"
    assert_refused(ended, server, "Deleted", message)


@pytest.mark.contract("B226")
def test_a_namespace_may_be_made_by_the_manifest(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It is made first; what stands in it could not be tried before, and that is said."""
    path = manifest(settings(namespace="new"), NAMESPACE)
    ended = gate("apply", file=[path], allow_kind=["Namespace"])
    assert (ended.code, ended.document["outcome"]) == (0, "applied"), ended.err
    assert [seen.path.split("/")[-1] for seen in server.writes()] == ["new", "settings"]
    assert "configmap/settings was not tried: its namespace does not exist yet" in warnings(ended)


# -- may we ----------------------------------------------------------------------------------------


LOOKS: JSON = {"verbs": ["get"], "apiGroups": ["", "apps"], "resources": ["*"]}


@pytest.mark.contract("B2", "B23")
def test_all_missing_rights_come_at_once_as_a_role(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """The rollback's rights are among them, and the Role can be applied as it is printed."""
    server.rules = [LOOKS]
    ended = gate("apply", file=[manifest(web(), settings())])
    wanted = ["patch deployments.apps", "create configmaps", "watch pods", "list replicasets.apps"]
    assert_refused(ended, server, "Forbidden", *wanted)
    assert server.trials() == []
    text = ended.err.partition("this Role grants what is missing:\n")[2]
    role, binding = yaml.safe_load_all(textwrap.dedent(text))
    assert (role["kind"], role["metadata"]["namespace"]) == ("Role", "shop")
    assert binding["subjects"] == [
        {"kind": "User", "name": "ci", "apiGroup": "rbac.authorization.k8s.io"}
    ]


@pytest.mark.contract("B2")
@pytest.mark.parametrize("command", ["apply", "undo", "restart", "pause", "resume"])
def test_where_not_even_reading_is_allowed_all_is_named_too(
    gate: Gate, server: ApiServer, manifest: Manifest, command: str
) -> None:
    """The first answer 403 is not all that is said."""
    server.rules = []
    server.on("GET", DEPLOYMENT, as_status(403, 'cannot get resource "deployments"', "Forbidden"))
    ended = run(gate, command, manifest(web()))
    assert_refused(ended, server, "Forbidden", "get deployments.apps", "patch deployments.apps")


@pytest.mark.contract("B2")
def test_a_right_to_delete_is_needed_only_where_something_may_be_deleted(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """With --prune-created, what is new may have to go again."""
    verbs = ["get", "list", "watch", "create", "patch"]
    server.rules = [{**ALL_RULES[0], "verbs": verbs}]
    path = manifest(web(), settings())
    assert_passed(gate("preflight", file=[path]), server)
    ended = gate("preflight", file=[path], prune_created=True)
    assert_refused(ended, server, "Forbidden", "delete configmaps", "delete deployments.apps")


@pytest.mark.contract("B200")
def test_the_role_for_a_manifest_is_printed(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """`preflight --rbac` prints what an attempt and its rollback need, and nothing else."""
    server.rules = []
    ended = gate("preflight", file=[manifest(web(), service())], rbac=True, prune_created=True)
    assert (ended.code, server.writes()) == (0, [])
    role, _ = yaml.safe_load_all(ended.out)
    assert role["metadata"]["name"] == "rollout-gate-web"
    granted = {
        (resource, verb)
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert {("deployments", "patch"), ("services", "delete"), ("pods/log", "get")} <= granted
    assert {("horizontalpodautoscalers", "list"), ("leases", "list")} <= granted
    assert ("secrets", "get") not in granted
    assert "delete of secrets" not in ended.out


@pytest.mark.contract("B200")
def test_a_role_says_what_the_rights_on_secrets_are_for(gate: Gate, manifest: Manifest) -> None:
    """Whoever is asked for them sees no deletion in the manifest."""
    keys = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}
    ended = gate("preflight", file=[manifest(web(), keys)], rbac=True)
    role, _ = yaml.safe_load_all(ended.out)
    (rule,) = [rule for rule in role["rules"] if "secrets" in rule["resources"]]
    assert "delete" in rule["verbs"]
    assert "# delete of secrets: what a Secret was is kept" in ended.out


ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "reader", "namespace": "shop"},
    "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
}
KINDS = ("Role", "RoleBinding")
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "readers", "namespace": "shop"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
}


@pytest.mark.contract("B200")
def test_the_rights_to_grant_rights_are_printed(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Each on the one Role that it is about: on all of them it would be every right there is."""
    server.rules = []
    ended = gate("preflight", file=[manifest(web(), ROLE, BINDING)], rbac=True, allow_kind=KINDS)
    role, _ = yaml.safe_load_all(ended.out)
    named = [rule for rule in role["rules"] if "resourceNames" in rule]
    api = {"apiGroups": ["rbac.authorization.k8s.io"]}
    assert named == [
        api | {"resources": ["clusterroles"], "resourceNames": ["view"], "verbs": ["bind"]},
        api | {"resources": ["roles"], "resourceNames": ["reader"], "verbs": ["escalate"]},
    ]
    others = [rule for rule in role["rules"] if rule not in named]
    verbs = {verb for rule in others for verb in rule["verbs"]}
    assert not verbs & {"bind", "escalate"}


@pytest.mark.contract("B200")
@pytest.mark.parametrize("command", ["preflight", "verify"])
@pytest.mark.parametrize("subject", ["user:jane", "group:ops:night"])
def test_a_printed_role_is_for_whom_one_says(
    gate: Gate, manifest: Manifest, command: str, subject: str
) -> None:
    """Whoever asks, whatever is asked for."""
    given = {"rbac": True, "rbac_subject": subject}
    if command == "preflight":
        ended = gate(command, file=[manifest(web())], **given)
    else:
        ended = gate(command, (), **given)
    *_, binding = yaml.safe_load_all(ended.out)
    [bound] = binding["subjects"]
    kind, _, name = subject.partition(":")
    assert (bound["kind"].lower(), bound["name"]) == (kind, name)
    assert ended.out.startswith(f"# for {bound['kind']} {name}, as --rbac-subject says\n")


@pytest.mark.contract("B200")
@pytest.mark.parametrize(
    ("knows_who_asks", "first_line", "name"),
    [
        (True, "# for User ci, who asked for this; --rbac-subject names somebody else", "ci"),
        (False, "# for ServiceAccount rollout-gate, a placeholder, since ", "rollout-gate"),
    ],
)
def test_nobody_is_made_up_for_a_printed_role(
    gate: Gate,
    server: ApiServer,
    manifest: Manifest,
    knows_who_asks: bool,
    first_line: str,
    name: str,
) -> None:
    """It is for who asks, as the server says; a server that does not say gets a placeholder."""
    if not knows_who_asks:
        server.on("POST", WHO_AM_I, as_status(404, "not found", "NotFound"))
    ended = gate("preflight", file=[manifest(web())], rbac=True)
    assert ended.out.startswith(first_line)
    *_, binding = yaml.safe_load_all(ended.out)
    assert binding["subjects"][0]["name"] == name


@pytest.mark.contract("B709", "B200")
def test_the_rights_to_keep_verified_secrets_are_printed(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """One Secret beside the lock is made, changed and read."""
    server.rules = []
    ended = gate("preflight", file=[manifest(web())], rbac=True, keep_verified_secrets=True)
    role, _ = yaml.safe_load_all(ended.out)
    rules = [rule for rule in role["rules"] if "secrets" in rule["resources"]]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"create", "get", "patch"}


# -- what is there ---------------------------------------------------------------------------------


MARKS: list[tuple[dict[str, Any], str]] = [
    ({"annotations": {"meta.helm.sh/release-name": "shop"}}, "Helm: annotation meta.helm.sh"),
    ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "Argo CD: annotation argocd"),
    ({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}, "Flux: label kustomize.toolkit"),
    ({"labels": {"helm.toolkit.fluxcd.io/name": "shop"}}, "Flux: label helm.toolkit"),
]
OWNERS = ["helm", "argocd-controller", "kustomize-controller", "helm-controller"]


@pytest.mark.contract("B10", "B13")
@pytest.mark.parametrize(("metadata", "evidence"), MARKS)
def test_what_another_tool_marks_is_refused(
    gate: Gate,
    server: ApiServer,
    manifest: Manifest,
    metadata: dict[str, Any],
    evidence: str,
) -> None:
    """The evidence is named and `verify` pointed to; --allow-managed goes on."""
    server.put(marked(web(), **metadata))
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "GitOpsManaged", evidence, "rollout-gate verify web -n shop")
    assert_passed(gate("preflight", file=[manifest(web("2"))], allow_managed=True), server)


@pytest.mark.contract("B10")
@pytest.mark.parametrize("manager", OWNERS)
def test_another_tool_is_known_by_its_field_manager(
    gate: Gate, server: ApiServer, manifest: Manifest, manager: str
) -> None:
    """A controller that leaves no marks owns fields."""
    server.put(web(), manager=manager)
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "GitOpsManaged", f"field manager {manager}")


@pytest.mark.contract("B10")
@pytest.mark.parametrize("command", ["undo", "restart", "pause", "resume"])
def test_every_command_that_writes_refuses_what_is_managed(
    gate: Gate, server: ApiServer, command: str
) -> None:
    """It is not only apply that another tool would put back."""
    server.put(marked(web(), **MARKS[0][0]))
    assert_refused(gate(command, "web"), server, "GitOpsManaged", "Helm")


@pytest.mark.contract("B12")
def test_labels_of_rendered_charts_are_no_evidence(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """`helm template | rollout-gate apply -f -` carries them, and is nobody's."""
    labels = {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop"}
    server.put(marked(web(), labels=labels))
    assert_passed(gate("preflight", file=[manifest(marked(web("2"), labels=labels))]), server)


@pytest.mark.contract("B12")
def test_a_status_that_another_tool_wrote_is_no_evidence(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Who writes a subresource does not own what is applied."""
    body = managed_by("rollout-gate", web())
    status = {**entry("argocd-controller", "Update", {"f:status": {}}), "subresource": "status"}
    body["metadata"]["managedFields"].append(status)
    server.put(body)
    assert_passed(gate("preflight", file=[manifest(web("2"))]), server)


@pytest.mark.contract("B7")
def test_a_paused_deployment_is_refused(gate: Gate, server: ApiServer, manifest: Manifest) -> None:
    """No rollout would start; the flag that goes on is named."""
    server.put(web())
    server.change("Deployment", "web", {"spec": {"paused": True}})
    assert_refused(gate("apply", file=[manifest(web("2"))]), server, "Paused", "--resume")
    assert_refused(gate("restart", "web"), server, "Paused", "rollout-gate resume web -n shop")


@pytest.mark.contract("B7")
def test_a_manifest_that_pauses_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It would be held to the end of its budget."""
    ended = gate("apply", file=[manifest(web("2", paused=True))])
    assert_refused(ended, server, "Paused", "spec.paused out of the manifest")


@pytest.mark.contract("B48")
@pytest.mark.parametrize("scaled_by", ["the manifest", "somebody"])
def test_no_pods_are_refused_where_they_are_asked_for(
    gate: Gate, server: ApiServer, manifest: Manifest, scaled_by: str
) -> None:
    """--require-pods counts what would be: also replicas that the manifest leaves alone."""
    body = web("2", replicas=0)
    if scaled_by == "somebody":
        del body["spec"]["replicas"]
        server.put({**body, "spec": {**web()["spec"]}})
        server.change("Deployment", "web", {"spec": {"replicas": 0}})
    ended = gate("apply", file=[manifest(body)], require_pods=True)
    assert_refused(ended, server, "Vacuous", "replicas: 0")


@pytest.mark.contract("B4")
def test_where_a_failure_would_return_to_is_said(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """The revision and its images, or that there is nothing; and what --on-failure makes of it."""

    def told(**flags: Any) -> str:
        timeline = gate("preflight", file=[manifest(web("2"))], **flags).document["timeline"]
        return str(next(line["message"] for line in timeline if line["event"] == "baseline"))

    assert told() == "deployment/web: nothing serves yet, so a failure has nowhere to return to"
    server.put(web())
    assert told() == "deployment/web: a failure returns to revision 1 (shop/web:1)"
    kept = "deployment/web: revision 1 (shop/web:1) serves; a failure does not return to it"
    assert told(on_failure="keep") == told(observe=True) == kept


@pytest.mark.contract("B15", "B224")
def test_what_is_not_judged_is_said(gate: Gate, server: ApiServer, manifest: Manifest) -> None:
    """Kinds without a judge are named, and tests of a chart that are left out."""
    hook = marked(settings("x"), name="check", annotations={"helm.sh/hook": "test"})
    ended = gate("preflight", file=[manifest(web(), service(), settings(), hook)])
    said = [line["message"] for line in ended.document["timeline"] if line["event"] == "objects"]
    assert said[0] == "applied, not judged: configmap/settings, service/web"
    assert said[1].startswith("skipped: configmap/check: ")


@pytest.mark.contract("B71")
def test_autoscalers_that_cannot_be_read_are_warned_of(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Whether replicas are somebody else's cannot be told then."""
    server.put(autoscaler())
    server.on("GET", SCALERS, as_status(403, 'cannot list resource "x" in API group "y"'))
    ended = gate("preflight", file=[manifest(web())])
    assert_passed(ended, server)
    assert any("autoscaler owns replicas in shop" in warning for warning in warnings(ended))


@pytest.mark.contract("B223")
def test_a_kind_that_is_not_served_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It is named with its version; where the manifest defines it, what to do first."""
    widget = {"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {"name": "one"}}
    names = {"kind": "Widget", "plural": "widgets"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.test"},
        "spec": {"group": "example.test", "names": names},
    }
    flags = {"allow_kind": ["Widget.example.test", "CustomResourceDefinition"]}
    ended = gate("apply", file=[manifest(web(), widget)], **flags)
    assert_refused(ended, server, "NotFound", "no kind Widget in example.test/v1")
    assert "defines Widget itself" not in ended.err
    ended = gate("apply", file=[manifest(web(), widget, definition)], **flags)
    assert_refused(ended, server, "NotFound", "defines Widget itself: apply its definition first")


def test_the_server_knows_whether_a_custom_kind_has_a_namespace(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """A cluster-scoped one is applied without, a namespaced one with the default."""
    server.serve(Resource("example.test", "v1", "Zone", "zones", namespaced=False))
    server.serve(Resource("example.test", "v2", "Widget", "widgets"))
    zone = {"apiVersion": "example.test/v1", "kind": "Zone", "metadata": {"name": "one"}}
    widget = {"apiVersion": "example.test/v2", "kind": "Widget", "metadata": {"name": "two"}}
    flags = {"allow_kind": ["Zone.example.test", "Widget.example.test"]}
    assert gate("apply", file=[manifest(zone, widget)], **flags).code == 0
    assert "namespace" not in server.get("Zone", "one")["metadata"]
    assert server.get("Widget", "two")["metadata"]["namespace"] == "shop"


@pytest.mark.contract("B231")
def test_namespaces_that_contradict_are_a_usage_error(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """A manifest that names another namespace than --namespace is exit 2."""
    ended = gate("apply", file=[manifest(web())], namespace="other")
    assert_refused(ended, server, "Usage", "belongs to namespace shop, not to other", code=2)


# -- would the server take it ----------------------------------------------------------------------


@pytest.mark.contract("B67")
def test_fields_of_somebody_else_are_refused(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Fields and managers are named, with the flags that settle it, ready to be copied."""
    server.put(web())
    server.change("Deployment", "web", {"spec": {"replicas": 5}}, manager="kubectl-edit")
    server.change("Deployment", "web", {"spec": {"minReadySeconds": 9}}, manager="a b")
    ended = gate("apply", file=[manifest(web("2"))])
    fields = [".spec.replicas (kubectl-edit)", ".spec.minReadySeconds (a b)"]
    flags = "--take-over 'a b' --take-over kubectl-edit"
    assert_refused(ended, server, "Conflict", "deployment/web", *fields, flags, "--force-conflicts")
    assert all(trial.query["force"] == "false" for trial in server.trials())


@pytest.mark.contract("B67", "B61")
def test_only_foreign_fields_are_in_the_way(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What kubectl applied is taken over by itself, and not named beside the stranger's."""
    server.put(managed_by("kubectl-client-side-apply", web(), "Update"))
    server.change("Deployment", "web", {"spec": {"replicas": 5}}, manager="kubectl-edit")
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "Conflict", "--take-over kubectl-edit;")
    assert "kubectl-client-side-apply" not in ended.err


@pytest.mark.contract("B67")
def test_a_flag_that_would_not_help_is_not_offered(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What was written through a subresource stays its manager's: `kubectl scale` is one."""
    server.put(web())
    more = {"spec": {"replicas": 5}}
    server.change("Deployment", "web", more, manager="kubectl", subresource="scale")
    ended = gate("apply", file=[manifest(web("2"))])
    assert_refused(ended, server, "Conflict", ".spec.replicas (kubectl)", "leave them out")
    assert "--take-over" not in ended.err


@pytest.mark.contract("B67", "B61")
def test_each_conflict_has_what_settles_it(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What the same kubectl applied is no conflict; the flag is named for whom it reaches."""
    server.put(managed_by("kubectl", web(), "Apply"))
    more = {"spec": {"replicas": 5}}
    server.change("Deployment", "web", more, manager="kubectl", subresource="scale")
    server.change("Deployment", "web", {"spec": {"minReadySeconds": 9}}, manager="kubectl-edit")
    ended = gate("apply", file=[manifest(web("2"))])
    fields = [
        "manifest: .spec.",
        ".spec.replicas (kubectl)",
        ".spec.minReadySeconds (kubectl-edit)",
    ]
    ways = "--take-over kubectl-edit; leave .spec.replicas out of the manifest; or overwrite"
    assert_refused(ended, server, "Conflict", *fields, ways)
    assert ended.err.count("(kubectl") == len(fields) - 1


@pytest.mark.contract("B73")
def test_a_merge_that_the_server_cannot_do_is_rejected(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Duplicate keys that kubectl once let in: it is a 500, and yet it is not tried again."""
    server.put(web())
    said = "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): duplicate"
    server.on("PATCH", DEPLOYMENT, as_status(500, said))
    assert_refused(gate("apply", file=[manifest(web("2"))]), server, "Rejected", "duplicate")
    assert len(server.trials()) == 1


@pytest.mark.contract("B6")
@pytest.mark.parametrize("command", ["apply", "restart"])
def test_a_webhook_that_takes_no_dry_run_is_a_warning(
    gate: Gate, server: ApiServer, manifest: Manifest, command: str
) -> None:
    """The attempt goes on, and says what it could not try."""
    server.put(web())
    said = 'admission webhook "audit.example.test" does not support dry run'

    def answered(seen: Any) -> None:
        if seen.query.get("dryRun") == "All":
            server.on("PATCH", DEPLOYMENT, as_status(400, said, "BadRequest"))
        else:
            server.forget("PATCH", DEPLOYMENT)

    server.on_request = answered
    ended = run(gate, command, manifest(web("2")))
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert f"deployment/web was not tried: {said}" in warnings(ended)


@pytest.mark.contract("B5", "B232")
def test_what_the_server_finds_invalid_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """The server's words are shown, and the object is named also where they do not name it."""
    causes = [{"reason": "FieldValueInvalid", "field": "spec.x", "message": "odd"}]
    said = "Deployment.apps is invalid: spec.x: Invalid value"
    server.on("PATCH", DEPLOYMENT, as_status(422, said, "Invalid", causes=causes))
    ended = gate("apply", file=[manifest(settings(), web())])
    assert_refused(ended, server, "Rejected", f"deployment/web: {said}")


# -- what looks unwise -----------------------------------------------------------------------------


@pytest.mark.contract("B57")
def test_configuration_alone_is_warned_of(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Running pods do not pick it up; not where a pod template changes too."""
    server.put(web())
    server.put(settings("one"))
    alone = "this apply changes only configuration (configmap/settings): running pods do not"

    def warned(*objects: JSON) -> bool:
        ended = gate("preflight", file=[manifest(*objects)], silence=["all"])
        return any(warning.startswith(alone) for warning in warnings(ended))

    assert warned(web(), settings("two"))
    assert warned(settings("two"))
    assert not warned(web("2"), settings("two"))
    assert not warned(web(), settings("one"))


@pytest.mark.contract("B229")
def test_the_lint_warns_and_can_be_silenced(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Warnings name the place and the code that silences them."""
    path = manifest(web("latest", replicas=1))
    found = " ".join(warnings(gate("preflight", file=[path])))
    assert "web.yaml:1: deployment/web" in found
    assert "[mutable-tag]" in found
    assert "[one-replica]" in found
    assert warnings(gate("preflight", file=[path], silence=["all"])) == []


@pytest.mark.contract("B108")
def test_a_timeout_that_cannot_suffice_is_warned_of(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It is shorter than the deadline, or than the steps take that the rollout has."""
    path = manifest(web(replicas=40, minReadySeconds=60, progressDeadlineSeconds=70))

    def warned(**flags: Any) -> list[str]:
        return warnings(gate("preflight", file=[path], **flags))

    steps = "deployment/web: its 2 steps take 2m2s at least, longer than a timeout of 2m"
    assert warned(timeout="120s") == [steps]
    assert len(warned(timeout="60s")) == 2
    assert warned(timeout="123s") == warned() == []
    assert warned(timeout="60s", silence=["timeout-before-deadline"]) == []
    server.put(web(replicas=40, minReadySeconds=60, progressDeadlineSeconds=70))
    assert warned(timeout="120s") == []


# -- a server that goes away -----------------------------------------------------------------------


@pytest.mark.contract("B243")
def test_a_server_that_nobody_runs_is_unreachable(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It is exit 3, and the address is named."""
    server.close()
    ended = gate("apply", file=[manifest(web())], connect_timeout=0.1)
    assert_refused(ended, server, "Unreachable", URL)


@pytest.mark.contract("B243")
@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        (DEPLOYMENT, Drop(), "the connection to"),
        longer(PODS, Drop(), "did not list what runs within"),
        longer(PODS, Hang(), "did not list what runs within"),
    ],
)
def test_a_server_that_goes_away_before_the_first_write_is_unreachable(
    gate: Gate, server: ApiServer, manifest: Manifest, path: str, answer: Answer, words: str
) -> None:
    """Wherever it happens, no question is asked for longer than the connect budget."""
    server.on("GET", path, answer)
    ended = gate("apply", file=[manifest(web())], connect_timeout=0.15)
    assert_refused(ended, server, "Unreachable", words)


# -- nothing refuses -------------------------------------------------------------------------------


@pytest.mark.contract("B35")
def test_preflight_and_dry_run_write_nothing(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """They do all that precedes the first write, and end with 0 and a document."""
    server.put(managed_by("kubectl-client-side-apply", web(), "Update"))
    path = manifest(web("2"), settings(), service())
    assert_passed(gate("preflight", file=[path]), server)
    assert_passed(gate("apply", file=[path], dry_run=True), server)
    assert len(server.trials()) == 2 * 5
    ended = gate("preflight", file=[path], output="text")
    assert ended.out == ""
    assert "nothing refuses this manifest; nothing was written" in ended.err
