"""RBAC: what rules allow, and the reviews that tell about it."""

from __future__ import annotations

import pytest

from sandbox.access.authorizer import ADMIN, Authorizer, Identity, Target, allows, answer, user
from sandbox.access.bootstrap import found_access
from sandbox.api.api import Api
from sandbox.failure import ApiError
from sandbox.json import JSON

RBAC = "rbac.authorization.k8s.io"
READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}


def pods(verb: str = "get", **more: str) -> Target:
    """Return something to do with pods."""
    return Target(verb, resource="pods", namespace="default", **more)


def rule(**changes: list[str]) -> JSON:
    """Return the rule that allows to read pods, changed."""
    return {**READ_PODS, **changes}


@pytest.mark.parametrize(
    ("rule", "asked", "expected"),
    [
        (rule(), pods(), True),
        (rule(), pods("delete"), False),
        (rule(verbs=["*"]), pods("delete"), True),
        (rule(apiGroups=["apps"]), pods(), False),
        (rule(resources=["*"]), pods(subresource="log"), True),
        (rule(), pods(subresource="log"), False),
        (rule(resources=["pods/log"]), pods(subresource="log"), True),
        (rule(resources=["*/log"]), pods(subresource="log"), True),
        (rule(resources=["pods/*"]), pods(subresource="log"), False),
        (rule(resourceNames=["a"]), pods(name="a"), True),
        (rule(resourceNames=["a"]), pods(name="b"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/api/*"]}, Target("get", path="/api/v1"), True),
        ({"verbs": ["get"], "nonResourceURLs": ["/api/*"]}, Target("get", path="/api"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/x"]}, Target("post", path="/x"), False),
        (rule(), Target("get", path="/x"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, pods(), False),
    ],
)
def test_a_rule_allows_what_it_names(rule: JSON, asked: Target, expected: bool) -> None:
    """Verb, group, resource, subresource and name; or verb and path."""
    assert allows(rule, asked) is expected


ALICE = user("alice")
NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def authorizer(api: Api) -> Authorizer:
    """Return who decides in a cluster that has its own roles."""
    found_access(api)
    return Authorizer(api.store)


def asked(authorizer: Authorizer, kind: str, spec: JSON, who: Identity = ALICE) -> JSON:
    """Ask a question."""
    return answer(authorizer, kind, {"spec": spec}, who, now=NOW)


def refusal(authorizer: Authorizer, kind: str, spec: JSON) -> ApiError:
    """Return why a question is none."""
    with pytest.raises(ApiError) as caught:
        asked(authorizer, kind, spec, ADMIN)
    return caught.value


@pytest.mark.parametrize(
    "spec", [{}, {"resourceAttributes": {"verb": 3}}, {"nonResourceAttributes": {"verb": "get"}}]
)
def test_a_question_that_is_none_is_refused(authorizer: Authorizer, spec: JSON) -> None:
    """400 says what is answered."""
    assert refusal(authorizer, "SelfSubjectAccessReview", spec).status == 400


def test_rules_are_those_of_a_namespace(authorizer: Authorizer) -> None:
    """400 without one."""
    found = refusal(authorizer, "SelfSubjectRulesReview", {})
    assert (found.status, found.message) == (400, "no namespace on request")


def test_one_may_ask_who_one_is(authorizer: Authorizer) -> None:
    """User, uid and groups, at the time of asking."""
    assert asked(authorizer, "SelfSubjectReview", {}, ADMIN) == {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": NOW},
        "status": {
            "userInfo": {
                "username": "admin",
                "uid": "admin",
                "groups": ["system:masters", "system:authenticated"],
            }
        },
    }
