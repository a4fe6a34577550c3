"""Reviews: questions about access, answered in the server's shape."""

from __future__ import annotations

from collections.abc import Callable

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


def asked(authorizer: Authorizer, kind: str, spec: JSON, who: Identity = ALICE) -> JSON:
    """Ask a question."""
    return answer(authorizer, kind, {"spec": spec}, who, now=NOW)


def refusal(authorizer: Authorizer, kind: str, spec: JSON) -> ApiError:
    """Return why a question is none."""
    with pytest.raises(ApiError) as caught:
        asked(authorizer, kind, spec, ADMIN)
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


@pytest.mark.parametrize(
    "spec", [{}, {"resourceAttributes": {"verb": 3}}, {"nonResourceAttributes": {"verb": "get"}}]
)
def test_a_question_that_is_none_is_refused(authorizer: Authorizer, spec: JSON) -> None:
    """400 says what is answered."""
    assert refusal(authorizer, "SelfSubjectAccessReview", spec).status == 400


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
