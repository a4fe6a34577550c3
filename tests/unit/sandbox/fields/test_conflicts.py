"""Conflicts of an apply: whom the server names for what, and what kubectl inherits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.fields import Conflict, apply, update_owners
from sandbox.json import JSON, dig
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

SCHEMA = schema_of(BY_KEY["deployments.apps"])
NOW = "2026-01-01T00:00:00Z"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
WEB: JSON = {"name": "web", "image": "shop/web:1"}


def configuration(*containers: JSON, **spec: Any) -> JSON:
    """Return an applied configuration."""
    found: JSON = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    template = {"template": {"spec": {"containers": [*containers]}}} if containers else {}
    return {**found, "spec": {**spec, **template}}


def applied(live: JSON | None, body: JSON, manager: str) -> JSON:
    """Apply without force, and let the object have the uid that a stored one has."""
    found = apply(live, body, manager, force=False, now=NOW, schema=SCHEMA)
    return {**found, "metadata": {"uid": "1", **found["metadata"]}}


def first(body: JSON) -> JSON:
    """Return an object that `ci` has created by an apply."""
    return applied(None, body, "ci")


def edited(live: JSON, manager: str, **spec: Any) -> JSON:
    """Return the object after an update of its spec."""
    new = {**live, "spec": {**live["spec"], **spec}}
    return update_owners(live, new, manager, now=NOW, schema=SCHEMA)


def test_kubectl_inherits_what_it_applied_from_the_clients_side() -> None:
    """Conflicts with values that the annotation still vouches for are none, for kubectl alone."""
    annotation = json.dumps(configuration(WEB, replicas=2))
    live = {
        **configuration(WEB, replicas=2),
        "metadata": {"annotations": {LAST_APPLIED: annotation}},
    }
    live = update_owners(None, live, "kubectl-client-side-apply", now=NOW, schema=SCHEMA)
    live["metadata"]["uid"] = "1"
    config = configuration({**WEB, "image": "<2>"}, replicas=2)
    with pytest.raises(Conflict):
        applied(live, config, "ci")
    body = applied(live, config, "kubectl")
    assert dig(body, "metadata", "annotations", LAST_APPLIED) == (
        '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2,'
        '"template":{"spec":{"containers":[{"image":"\\u003c2\\u003e","name":"web"}]}}}}\n'
    )
    with pytest.raises(Conflict) as error:
        applied(edited(live, "alice", replicas=5), configuration(WEB, replicas=3), "kubectl")
    assert [one.field for one in error.value.conflicts] == [".spec.replicas"]


def vouched(live: JSON, annotation: str) -> JSON:
    """Return what kubectl conflicts with, where the live object has this annotation."""
    annotations = {LAST_APPLIED: annotation}
    body = {**live, "metadata": {**live["metadata"], "annotations": annotations}}
    with pytest.raises(Conflict) as error:
        applied(body, configuration(replicas=3), "kubectl")
    return error.value.refusal().details


@pytest.mark.parametrize(
    "annotation",
    [
        "",
        "{",
        "[]",
        json.dumps({**configuration(replicas=2), "apiVersion": "extensions/v1beta1"}),
        json.dumps(configuration(replicas=1)),
    ],
    ids=["empty", "broken", "no object", "another version", "another value"],
)
def test_an_annotation_that_vouches_for_nothing_is_none(annotation: str) -> None:
    """Kubectl inherits what its annotation says and the object still has."""
    live = edited(first(configuration(WEB)), "kubectl-client-side-apply", replicas=2)
    assert [cause["field"] for cause in vouched(live, annotation)["causes"]] == [".spec.replicas"]
