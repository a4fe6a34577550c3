"""Reviews: questions about access, answered in the server's shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.access.authorizer import Authorizer
from sandbox.access.identity import ADMIN, Identity, user
from sandbox.access.reviews import answer
from sandbox.failure import ApiError
from sandbox.json import JSON

RBAC = "rbac.authorization.k8s.io"
ALICE = user("alice")
SUBJECT = {"apiGroup": RBAC, "kind": "User", "name": "alice"}
RULE = {
    "apiGroups": ["apps"],
    "resources": ["deployments"],
    "verbs": ["get"],
    "resourceNames": ["d"],
}
GET = {"verb": "get", "group": "apps", "resource": "deployments", "namespace": "default"}
NOW = "2026-01-01T00:00:00Z"
Grant = Callable[..., None]


def asked(
    authorizer: Authorizer, kind: str, spec: JSON, who: Identity = ALICE, namespace: str = ""
) -> JSON:
    """Ask a question."""
    return answer(authorizer, kind, {"spec": spec}, who, namespace=namespace, now=NOW)


def refusal(authorizer: Authorizer, kind: str, spec: JSON, namespace: str = "") -> ApiError:
    """Return why a question is none."""
    with pytest.raises(ApiError) as caught:
        asked(authorizer, kind, spec, ADMIN, namespace)
    return caught.value


def test_one_may_ask_about_oneself(authorizer: Authorizer, grant: Grant) -> None:
    """The answer repeats the question and gives the reason, if there is one."""
    spec = {"resourceAttributes": {**GET, "name": "d"}}
    found = asked(authorizer, "SelfSubjectAccessReview", spec)
    assert found == {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": False},
    }
    grant(SUBJECT, RULE)
    assert asked(authorizer, "SelfSubjectAccessReview", spec)["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "r/default" of Role "r" to User "alice"',
    }


def test_one_may_ask_about_a_path(authorizer: Authorizer) -> None:
    """Discovery is everybody's."""
    spec = {"nonResourceAttributes": {"path": "/api", "verb": "get"}}
    found = asked(authorizer, "SelfSubjectAccessReview", spec)
    assert found["status"]["reason"] == (
        'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery"'
        ' to Group "system:authenticated"'
    )


def test_one_may_ask_about_others(authorizer: Authorizer, grant: Grant) -> None:
    """By user and groups, in the cluster or in a namespace."""
    grant({"apiGroup": RBAC, "kind": "Group", "name": "devs"}, RULE)
    attributes = {"resourceAttributes": {**GET, "name": "d"}}
    for spec, expected in [
        ({"user": "bob", "groups": ["devs"], **attributes}, True),
        ({"groups": ["devs"], **attributes}, True),
        ({"user": "bob", **attributes}, False),
    ]:
        found = asked(authorizer, "SubjectAccessReview", spec, ADMIN)
        assert found["status"]["allowed"] is expected
        local = asked(authorizer, "LocalSubjectAccessReview", spec, ADMIN, "default")
        assert local["status"] == found["status"]
        assert local["metadata"] == {"namespace": "default"}


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (
            "SelfSubjectAccessReview",
            {},
            (
                "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes"
                " or resourceAttributes must be specified"
            ),
        ),
        (
            "SelfSubjectAccessReview",
            {"resourceAttributes": {}, "nonResourceAttributes": {}},
            (
                'spec.nonResourceAttributes: Invalid value: {"Path":"","Verb":""}: cannot be'
                " specified in combination with resourceAttributes"
            ),
        ),
        (
            "SubjectAccessReview",
            {"resourceAttributes": GET},
            'spec.user: Invalid value: "": at least one of user or group must be specified',
        ),
        (
            "LocalSubjectAccessReview",
            {"user": "alice", "resourceAttributes": {**GET, "namespace": "other"}},
            (
                'spec.resourceAttributes.namespace: Invalid value: "other": must match'
                " metadata.namespace"
            ),
        ),
    ],
)
def test_a_question_that_is_none_is_refused(
    authorizer: Authorizer, kind: str, spec: JSON, message: str
) -> None:
    """422 in the server's words, which name no kind here."""
    found = refusal(authorizer, kind, spec, "default")
    assert found.status == 422
    assert found.message == f'.authorization.k8s.io "" is invalid: {message}'
    assert set(found.details) == {"group", "causes"}


def test_one_may_ask_for_all_rules(authorizer: Authorizer, grant: Grant) -> None:
    """Those of the cluster and those of the namespace, resources and paths apart."""
    grant(SUBJECT, RULE)
    found = asked(authorizer, "SelfSubjectRulesReview", {"namespace": "default"})
    assert found["spec"] == {}
    assert found["status"]["incomplete"] is False
    assert found["status"]["resourceRules"] == [
        {
            "verbs": ["create"],
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        },
        {
            "verbs": ["create"],
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"],
        },
        RULE,
    ]
    assert {"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"]} not in found["status"][
        "nonResourceRules"
    ]
    assert len(found["status"]["nonResourceRules"]) == 2


def test_masters_have_every_rule(authorizer: Authorizer) -> None:
    """Listed once."""
    found = asked(authorizer, "SelfSubjectRulesReview", {"namespace": "default"}, ADMIN)
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    assert found["status"]["resourceRules"].count(everything) == 1
    assert {"verbs": ["*"], "nonResourceURLs": ["*"]} in found["status"]["nonResourceRules"]


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


@pytest.mark.parametrize(
    ("kind", "spec", "why"),
    [
        (
            "SelfSubjectAccessReview",
            3,
            "SelfSubjectAccessReview.spec of type v1.SelfSubjectAccessReviewSpec",
        ),
        (
            "SelfSubjectAccessReview",
            {"resourceAttributes": {"verb": 1}},
            "ResourceAttributes.spec.resourceAttributes.verb of type string",
        ),
        (
            "SubjectAccessReview",
            {"groups": [1]},
            "SubjectAccessReviewSpec.spec.groups of type string",
        ),
    ],
)
def test_a_question_of_wrong_types_is_none(
    authorizer: Authorizer, kind: str, spec: Any, why: str
) -> None:
    """400 in the words of the decoder."""
    found = refusal(authorizer, kind, spec)
    assert found.status == 400
    assert found.message == (
        f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal number into'
        f" Go struct field {why}"
    )
