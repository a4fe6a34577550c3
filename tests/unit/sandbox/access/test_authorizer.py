"""RBAC: what rules allow, whom bindings reach, and how a refusal is worded."""

from __future__ import annotations

import pytest

from sandbox.access.authorizer import Target, allows
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
        (
            {"verbs": ["get"], "nonResourceURLs": ["/api/*"]},
            Target("get", path="/api/v1"),
            True,
        ),
        ({"verbs": ["get"], "nonResourceURLs": ["/api/*"]}, Target("get", path="/api"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/x"]}, Target("post", path="/x"), False),
        (rule(), Target("get", path="/x"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, pods(), False),
    ],
)
def test_a_rule_allows_what_it_names(rule: JSON, asked: Target, expected: bool) -> None:
    """Verb, group, resource, subresource and name; or verb and path."""
    assert allows(rule, asked) is expected
