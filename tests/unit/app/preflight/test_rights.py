"""The rights that a run needs: what lacks is named at once, and printed as a Role."""

from __future__ import annotations

import pytest
import yaml

from sandbox.face import JSON
from tests.cluster.workloads import daemon_set, job, stateful_set
from tests.unit.app.bodies import marked, service, settings, web
from tests.unit.app.conftest import Ended, Gate, assert_passed, assert_refused
from tests.unit.app.server import Server
from tests.unit.kube.scripted import as_json, as_status

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.mark.contract("B2")
@pytest.mark.parametrize("command", ["apply", "undo", "restart", "pause", "resume"])
def test_where_not_even_reading_is_allowed_all_is_named_too(
    gate: Gate, server: Server, command: str
) -> None:
    """The first answer 403 is not all that is said."""
    server.limit()
    given = {"file": [gate.manifest(web())]} if command == "apply" else {}
    ended = gate(command, *([] if given else ["web"]), **given)
    assert_refused(ended, server, "Forbidden", "get deployments.apps", "patch deployments.apps")


@pytest.mark.contract("B2")
def test_a_right_to_delete_is_needed_only_where_something_may_be_deleted(
    gate: Gate, server: Server
) -> None:
    """With --prune-created, what is new may have to go again."""
    verbs = ["get", "list", "watch", "create", "patch"]
    server.limit({"verbs": verbs, "apiGroups": ["*"], "resources": ["*"]})
    path = gate.manifest(web(), settings())
    assert_passed(gate("preflight", file=[path]), server)
    ended = gate("preflight", file=[path], prune_created=True)
    assert_refused(ended, server, "Forbidden", "delete configmaps", "delete deployments.apps")


@pytest.mark.contract("B1621")
@pytest.mark.parametrize("hidden", ["pods", "jobs"])
def test_an_apply_with_a_job_that_may_not_look_for_earlier_ones_is_refused(
    gate: Gate, server: Server, hidden: str
) -> None:
    """Whether the pod of an earlier one is at work would not be known."""
    writing = ["get", "watch", "create", "patch", "delete"]
    read = ["deployments", "events", "jobs", "leases", "pods", "replicasets"]
    server.limit(
        {"verbs": writing, "apiGroups": ["*"], "resources": ["*"]},
        {"verbs": ["list"], "apiGroups": ["*"], "resources": [x for x in read if x != hidden]},
    )
    ended = gate.apply(job(), web())
    assert_refused(ended, server, "Forbidden", f"not allowed: list {hidden}")


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
def test_the_role_for_a_manifest_asks_for_no_more_than_it_needs(gate: Gate, server: Server) -> None:
    """Rights on Secrets alone where some are kept; what they are for stands beside them."""
    server.limit()
    keys = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}
    plain = gate.preflight(web(), service(), rbac=True, prune_created=True)
    assert (plain.code, server.writes()) == (0, [])
    rights = printed_rights(plain)
    assert {("deployments", "patch"), ("services", "delete"), ("pods/log", "get")} <= rights
    assert {("horizontalpodautoscalers", "list"), ("leases", "list")} <= rights
    assert "secrets" not in {resource for resource, _ in rights}
    secret = gate.preflight(web(), keys, rbac=True)
    assert ("secrets", "delete") in printed_rights(secret)
    assert "# delete of secrets: what a Secret was is kept" in secret.out
    kept = gate.preflight(web(), rbac=True, keep_verified_secrets=True)
    verbs = {verb for resource, verb in printed_rights(kept) if resource == "secrets"}
    assert verbs == {"create", "get", "patch"}


@pytest.mark.contract("B1120")
@pytest.mark.parametrize(
    ("body", "is_scalable"),
    [(stateful_set(), True), (daemon_set(), False), (job(), False)],
    ids=["StatefulSet", "DaemonSet", "Job"],
)
def test_autoscalers_are_looked_for_where_one_could_scale(
    gate: Gate, server: Server, body: JSON, *, is_scalable: bool
) -> None:
    """What has no number of replicas needs neither the two requests nor the rights."""
    path = gate.manifest(marked(body, namespace="shop"))
    assert_passed(gate("preflight", file=[path]), server)
    asked = {seen.path.rpartition("/")[2] for seen in server.seen}
    scalers = {"horizontalpodautoscalers", "scaledobjects"}
    assert asked & scalers == (scalers if is_scalable else set())
    server.limit()
    rights = printed_rights(gate("preflight", file=[path], rbac=True))
    assert {resource for resource, _ in rights} & scalers == (scalers if is_scalable else set())


@pytest.mark.contract("B1470")
def test_the_role_for_a_generated_name_is_named_alike_at_each_run(gate: Gate) -> None:
    """Else each `kubectl apply` of it would leave another Role behind."""
    body = job()
    body["metadata"] = {"generateName": "migrate-", "namespace": "shop"}
    path = gate.manifest(body, web())
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
def test_the_rights_to_grant_rights_are_of_one_role_each(gate: Gate) -> None:
    """On all of them it would be every right there is."""
    kinds = ("Role", "RoleBinding")
    ended = gate.preflight(web(), ROLE, BINDING, rbac=True, allow_kind=kinds)
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
    gate: Gate, server: Server, given: dict[str, str] | None, first_line: str, name: str
) -> None:
    """It is for whom one says, else for who asks; a server that does not say gets a placeholder."""
    who = as_json({"status": {"userInfo": {"username": "ci"}}}, 201)
    answer = as_status(404, "not found", "NotFound") if given is None else who
    server.on("POST", WHO_AM_I, answer)
    for command, names in (("preflight", ()), ("verify", (("web",),))):
        more = {"file": [gate.manifest(web())]} if command == "preflight" else {}
        ended = gate(command, *names, rbac=True, **more, **(given or {}))
        assert ended.out.startswith(first_line)
        *_, binding = yaml.safe_load_all(ended.out)
        assert binding["subjects"][0]["name"] == name
