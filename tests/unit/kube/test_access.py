"""Access is asked for all at once, and what is missing comes as a Role that grants it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.objects import Ref
from gate.kube.access import Access, Permission, following, list_needed
from gate.kube.client import Client
from gate.kube.failures import BadAnswer
from gate.kube.kinds import registry
from gate.kube.resources import Resources
from gate.kube.role import additional_role_yaml, role_yaml
from gate.rbac_subject import STAND_IN, subject_of
from tests.unit.kube.scripted import Reply, ScriptedServer, as_json

WEB = deployment_ref("shop", "web")
CONFIG = Ref("v1", "ConfigMap", "shop", "settings")
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
SINGLE = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
PATCH_WEB = Permission("shop", "apps", "deployments", "patch", "web")
LOGS = Permission("shop", "", "pods/log", "get")


def _rule(verbs: str, group: str, resources: str, *names: str) -> dict[str, Any]:
    rule = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return rule | ({"resourceNames": list(names)} if names else {})


def _rules(*rules: dict[str, Any], incomplete: bool = False) -> Reply:
    return as_json({"status": {"resourceRules": list(rules), "incomplete": incomplete}})


@pytest.mark.contract("B2")
def test_a_rollout_needs_its_rollback_too(resources: Resources) -> None:
    """Applying, following and going back are asked for together, each permission once."""
    needs = list_needed(resources, [WEB, CONFIG])
    assert following("shop", registry.DEFAULT) < set(needs)
    words = {str(need) for need in needs}
    assert words == {
        "get deployments.apps",
        "list deployments.apps",
        "watch deployments.apps",
        "patch deployments.apps",
        "create deployments.apps",
        "list replicasets.apps",
        "watch replicasets.apps",
        "list pods",
        "watch pods",
        "get pods/log",
        "list events",
        "watch events",
        "get configmaps",
        "patch configmaps",
        "create configmaps",
    }


def test_creating_and_deleting_are_needed_only_where_they_happen(resources: Resources) -> None:
    """What exists is only patched, and what is never deleted needs no right to be."""
    needs = list_needed(resources, [WEB, CONFIG], creates=[CONFIG], deletes=[CONFIG])
    written = {str(need) for need in needs if need.verb in ("create", "delete")}
    assert written == {"create configmaps", "delete configmaps"}


@pytest.mark.parametrize(
    ("rule", "granted"),
    [
        (_rule("patch", "apps", "deployments"), True),
        (_rule("*", "*", "*"), True),
        (_rule("patch", "apps", "deployments", "web"), True),
        (_rule("patch", "apps", "deployments", "api"), False),
        (_rule("get", "apps", "deployments"), False),
        (_rule("patch", "", "deployments"), False),
        (_rule("patch", "apps", "deployments/scale"), False),
    ],
)
def test_rules_grant_as_rbac_does(
    client: Client, server: ScriptedServer, rule: dict[str, Any], granted: bool
) -> None:
    """Stars, names and groups are read as the authorizer reads them; one request answers all."""
    server.on("POST", RULES, _rules(rule))
    assert Access(client).missing([PATCH_WEB]) == (() if granted else (PATCH_WEB,))
    [seen] = server.seen
    assert seen.json()["spec"] == {"namespace": "shop"}


@pytest.mark.parametrize(
    ("resource", "granted"), [("pods/log", True), ("*/log", True), ("*", True), ("pods", False)]
)
def test_subresources_are_granted_apart(
    client: Client, server: ScriptedServer, resource: str, granted: bool
) -> None:
    """A right to pods is none to their logs."""
    server.on("POST", RULES, _rules(_rule("get", "", resource)))
    assert Access(client).missing([LOGS]) == (() if granted else (LOGS,))


@pytest.mark.contract("B2")
def test_all_missing_ones_come_at_once(client: Client, server: ScriptedServer) -> None:
    """Everything that is missing is named, in a stable order."""
    server.on("POST", RULES, _rules(_rule("list watch", "", "pods events")))
    missing = Access(client).missing([PATCH_WEB, LOGS, *following("shop", registry.DEFAULT)])
    assert [str(need) for need in missing] == [
        "get pods/log",
        "get deployments.apps",
        "list deployments.apps",
        "patch deployments.apps",
        "watch deployments.apps",
        "list replicasets.apps",
        "watch replicasets.apps",
    ]


@pytest.mark.contract("B3")
def test_incomplete_rules_are_asked_one_by_one(client: Client, server: ScriptedServer) -> None:
    """Where an authorizer cannot list its rules, what the others do not grant is asked singly."""
    server.on("POST", RULES, _rules(_rule("patch", "apps", "deployments"), incomplete=True))
    server.on("POST", SINGLE, as_json({"status": {"allowed": False}}))
    assert Access(client).missing([PATCH_WEB, LOGS]) == (LOGS,)
    [single] = server.asked(SINGLE)
    assert single.json()["spec"]["resourceAttributes"] == {
        "namespace": "shop",
        "verb": "get",
        "group": "",
        "resource": "pods",
        "subresource": "log",
        "name": "",
    }


def test_cluster_scoped_kinds_are_asked_singly(client: Client, server: ScriptedServer) -> None:
    """The rules of a namespace say nothing about them."""
    server.on("POST", SINGLE, as_json({"status": {"allowed": True}}))
    need = Permission("", "rbac.authorization.k8s.io", "clusterroles", "patch", "r")
    assert Access(client).missing([need]) == ()
    assert len(server.seen) == 1


def test_an_answer_that_is_none(client: Client, server: ScriptedServer) -> None:
    """A review without a status is neither yes nor no."""
    server.on("POST", RULES, as_json({}))
    with pytest.raises(BadAnswer, match="SelfSubjectRulesReview cannot be read"):
        Access(client).missing([LOGS])


def test_who_we_are(client: Client, server: ScriptedServer) -> None:
    """The server's name for us is asked for; an old server has none."""
    assert Access(client).username() == ""
    server.on("POST", SELF, as_json({"status": {"userInfo": {"username": "jane"}}}))
    assert Access(client).username() == "jane"


@pytest.mark.contract("B2", "B200")
def test_a_role_that_grants_what_is_needed(resources: Resources) -> None:
    """The Role has one rule for each set of verbs, and is bound to a service account."""
    role, binding = yaml.safe_load_all(
        role_yaml("rollout-gate", list_needed(resources, [WEB, CONFIG]), STAND_IN)
    )
    assert role["kind"] == "Role"
    assert role["metadata"] == {"name": "rollout-gate", "namespace": "shop"}
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get", "patch"]},
        {"apiGroups": [""], "resources": ["events", "pods"], "verbs": ["list", "watch"]},
        {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
        {
            "apiGroups": ["apps"],
            "resources": ["deployments"],
            "verbs": ["create", "get", "list", "patch", "watch"],
        },
        {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["list", "watch"]},
    ]
    assert binding["roleRef"]["name"] == "rollout-gate"
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "rollout-gate", "namespace": "shop"}
    ]


@pytest.mark.contract("B11")
def test_each_set_of_rights_has_a_role_of_its_own_name() -> None:
    """The rights, whom they are for, and what is optional make the name; their order does not."""
    jane, other = subject_of("jane"), Permission("shop", "", "services", "get")

    def name(*arguments: Any) -> str:
        role, binding = yaml.safe_load_all(additional_role_yaml("gate", *arguments))
        names = {role["metadata"]["name"], binding["metadata"]["name"], binding["roleRef"]["name"]}
        assert len(names) == 1
        return str(names.pop())

    assert name([LOGS, other], jane) == name([other, LOGS, LOGS], jane)
    assert name([LOGS], jane).startswith("gate-")
    sets = [([LOGS], jane), ([other], jane), ([LOGS], subject_of("joe")), ([LOGS], jane, [other])]
    assert len({name(*one) for one in sets}) == len(sets)


@pytest.mark.contract("B11")
def test_optional_rights_stand_below_the_others() -> None:
    """Also in a namespace of their own, where the Role has nothing else."""
    locks = [Permission(where, "coordination.k8s.io", "leases", "get") for where in ("a", "shop")]
    text = role_yaml("gate", [LOGS], STAND_IN, [*locks, LOGS])
    first, _, second, _ = yaml.safe_load_all(text)
    assert [rule["resources"] for rule in first["rules"]] == [["leases"]]
    assert [rule["resources"] for rule in second["rules"]] == [["pods/log"], ["leases"]]
    assert text.count("# optional: ") == 2


def test_cluster_scoped_kinds_need_a_cluster_role() -> None:
    """Without a namespace the role is the cluster's."""
    needs = [Permission("", "", "namespaces", "get")]
    role, binding = yaml.safe_load_all(role_yaml("rollout-gate", needs, STAND_IN))
    assert (role["kind"], binding["kind"]) == ("ClusterRole", "ClusterRoleBinding")
    assert "namespace" not in role["metadata"]
