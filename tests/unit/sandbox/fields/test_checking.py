"""What cannot be applied, in the words of a server v1.36."""

from __future__ import annotations

import pytest

from sandbox.failure import ApiError
from sandbox.fields import NotTyped, apply
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

SCHEMA = schema_of(BY_KEY["deployments.apps"])
CONTAINERS = ".spec.template.spec.containers"
NUMERIC = ".spec.replicas: expected numeric (int or float), got string"
BARE: JSON = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}


def applied(part: JSON) -> JSON:
    """Apply a configuration with a part of its own."""
    return apply(None, {**BARE, **part}, "ci", force=True, now="", schema=SCHEMA)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"spec": {"foo": 1}}, ".spec.foo: field not declared in schema"),
        ({"spec": {"replicas": "x"}}, NUMERIC),
        ({"spec": {"replicas": True}}, ".spec.replicas: expected numeric (int or float), got bool"),
        ({"spec": {"paused": "x"}}, ".spec.paused: expected boolean, got &{x}"),
        (
            {"metadata": {"name": "web", "labels": {"a": 5}}},
            ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:5}",
        ),
        (
            {"metadata": {"name": "web", "labels": "x"}},
            ".metadata.labels: expected map, got &{x}",
        ),
        (
            {"spec": {"template": {"spec": {"containers": {"a": 3}}}}},
            f"{CONTAINERS}: expected list, got &{{map[a:3]}}",
        ),
        (
            {"spec": {"template": {"spec": {"containers": [3]}}}},
            f"{CONTAINERS}: element 0: associative list with keys may not have non-map elements",
        ),
        (
            {"spec": {"template": {"spec": {"tolerations": [{"foo": 3}]}}}},
            ".spec.template.spec.tolerations[0].foo: field not declared in schema",
        ),
        (
            {"metadata": {"name": "web", "finalizers": ["a", "a"]}},
            '.metadata.finalizers: duplicate entries for key [="a"]',
        ),
        (
            {"spec": {"replicas": "x", "paused": "y"}},
            f"errors:\n  {NUMERIC}\n  .spec.paused: expected boolean, got &{{y}}",
        ),
    ],
)
def test_what_does_not_fit_its_schema_is_refused(part: JSON, words: str) -> None:
    """The server's own words, which it answers with a 500 without a reason."""
    with pytest.raises(NotTyped) as error:
        applied(part)
    refusal = error.value.refusal()
    about = "failed to create typed patch object (/web; apps/v1, Kind=Deployment): "
    assert (refusal.status, refusal.message) == (500, about + words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"apiVersion": "apps/v1beta1"}, "invalid object type: apps/v1beta1, Kind=Deployment"),
        (
            {"metadata": {"name": "web", "managedFields": []}},
            "metadata.managedFields must be nil",
        ),
    ],
)
def test_what_cannot_be_applied_is_a_bad_request(change: JSON, words: str) -> None:
    """Another version, or ownership by hand."""
    with pytest.raises(ApiError) as error:
        applied(change)
    assert (error.value.status, error.value.message) == (400, words)
