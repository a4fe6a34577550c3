"""Access is asked for all at once, and what is missing comes as a Role that grants it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.objects import Ref
from gate.kube.answers.failures import BadAnswer
from gate.kube.client.client import Client
from gate.kube.rights.access import Access, Permission
from gate.kube.rights.role import additional_role_yaml, role_yaml
from gate.rbac_subject import STAND_IN, subject_of
from tests.unit.kube.scripted import Reply, ScriptedServer, as_json

WEB = deployment_ref("shop", "web")
CONFIG = Ref("v1", "ConfigMap", "shop", "settings")
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
SINGLE = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
PATCH_WEB = Permission("shop", "apps", "deployments", "patch", "web")
LOGS = Permission("shop", "", "pods/log", "get")


def _rule(verbs: str, group: str, resources: str, *names: str) -> dict[str, Any]:
    rule = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return rule | ({"resourceNames": list(names)} if names else {})


def _rules(*rules: dict[str, Any], incomplete: bool = False) -> Reply:
    return as_json({"status": {"resourceRules": list(rules), "incomplete": incomplete}})


@pytest.mark.parametrize(
    ("need", "rule", "granted"),
    [
        (PATCH_WEB, _rule("patch", "apps", "deployments"), True),
        (PATCH_WEB, _rule("*", "*", "*"), True),
        (PATCH_WEB, _rule("patch", "apps", "deployments", "web"), True),
        (PATCH_WEB, _rule("patch", "apps", "deployments", "api"), False),
        (PATCH_WEB, _rule("get", "apps", "deployments"), False),
        (PATCH_WEB, _rule("patch", "", "deployments"), False),
        (PATCH_WEB, _rule("patch", "apps", "deployments/scale"), False),
        (LOGS, _rule("get", "", "pods/log"), True),
        (LOGS, _rule("get", "", "*/log"), True),
        (LOGS, _rule("get", "", "pods"), False),
    ],
)
def test_rules_grant_as_rbac_does(
    client: Client,
    server: ScriptedServer,
    need: Permission,
    rule: dict[str, Any],
    granted: bool,
) -> None:
    """Stars, names, groups and subresources as the authorizer reads them; one request for all."""
    server.on("POST", RULES, _rules(rule))
    assert Access(client).missing([need]) == (() if granted else (need,))
    [seen] = server.seen
    assert seen.json()["spec"] == {"namespace": "shop"}


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


def test_an_answer_that_is_none(client: Client, server: ScriptedServer) -> None:
    """A review without a status is neither yes nor no."""
    server.on("POST", RULES, as_json({}))
    with pytest.raises(BadAnswer, match="SelfSubjectRulesReview cannot be read"):
        Access(client).missing([LOGS])


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


def test_cluster_scoped_kinds_need_a_cluster_role() -> None:
    """Without a namespace the role is the cluster's."""
    needs = [Permission("", "", "namespaces", "get")]
    role, binding = yaml.safe_load_all(role_yaml("rollout-gate", needs, STAND_IN))
    assert (role["kind"], binding["kind"]) == ("ClusterRole", "ClusterRoleBinding")
    assert "namespace" not in role["metadata"]
