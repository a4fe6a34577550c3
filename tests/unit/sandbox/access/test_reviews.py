"""Reviews: questions about access, answered in the server's shape."""

from __future__ import annotations

import pytest

from sandbox.access.authorizer import ADMIN, Authorizer, Identity, user
from sandbox.access.bootstrap import found_access
from sandbox.access.reviews import answer
from sandbox.api.api import Api
from sandbox.failure import ApiError
from sandbox.json import JSON

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
