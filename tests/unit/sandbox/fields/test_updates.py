"""Ownership by creation, update and patch; the figures are those of a server v1.36."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.fields import update_owners
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

SCHEMA = schema_of(BY_KEY["deployments.apps"])
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"

DEFAULTED: JSON = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "uid": "1", "generation": 1, "labels": {"a": "1"}},
    "spec": {
        "replicas": 2,
        "progressDeadlineSeconds": 600,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "shop/web:1",
                        "resources": {},
                        "env": [{"name": "X", "value": "1"}],
                        "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    }
                ],
                "securityContext": {},
            },
        },
    },
    "status": {},
}


def created(manager: str = "alice") -> JSON:
    """Return the Deployment as a manager has created it."""
    return update_owners(None, DEFAULTED, manager, now=EARLY, schema=SCHEMA)


def write(live: JSON, manager: str, subresource: str = "", /, **spec: Any) -> JSON:
    """Return the object after a manager's update of its spec, or its status."""
    part = "status" if subresource == "status" else "spec"
    new = {**live, part: {**live[part], **spec}}
    return update_owners(live, new, manager, now=LATE, schema=SCHEMA, subresource=subresource)


def entries(body: JSON) -> list[JSON]:
    """Return the managedFields."""
    found: list[JSON] = body["metadata"].get("managedFields", [])
    return found


def owned(body: JSON, manager: str, subresource: str = "") -> JSON | None:
    """Return what a manager owns, None for nothing."""
    for entry in entries(body):
        if (entry["manager"], entry.get("subresource", "")) == (manager, subresource):
            found: JSON = entry["fieldsV1"]
            return found
    return None


def _with_entries(body: JSON, sent: Any) -> JSON:
    return {**body, "metadata": {**body["metadata"], "managedFields": sent}}


@pytest.mark.parametrize("sent", [[{}], []])
def test_managed_fields_can_be_reset(sent: list[JSON]) -> None:
    """An empty list or one empty entry clears them."""
    body = update_owners(created(), _with_entries(created(), sent), "bob", now=LATE, schema=SCHEMA)
    assert not entries(body)


def test_managed_fields_by_hand_are_honoured() -> None:
    """What a client sends counts, in the server's form; unreadable ones do not."""
    fields: JSON = {"f:spec": {"f:selector": {"f:matchLabels": {}}, "f:replicas": {".": {}}}}
    hand = {**entries(created())[0], "manager": "ci", "operation": "Apply", "fieldsV1": fields}
    body = update_owners(
        created(), _with_entries(created(), [hand]), "bob", now=LATE, schema=SCHEMA
    )
    expected: JSON = {"f:spec": {"f:replicas": {}, "f:selector": {}}}
    assert entries(body) == [{**hand, "fieldsV1": expected}]
    broken = {**hand, "operation": "Steal"}
    body = update_owners(
        created(), _with_entries(created(), [broken]), "bob", now=LATE, schema=SCHEMA
    )
    assert entries(body) == entries(created())


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "replicas": st.integers(0, 3),
        "paused": st.just(True),
        "minReadySeconds": st.integers(1, 2),
        "strategy": st.sampled_from([{"type": "Recreate"}, {"type": "RollingUpdate"}]),
    },
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["alice", "bob", "ci"]), VALUES), max_size=6))
def test_every_updated_field_has_one_owner(writes: list[tuple[str, JSON]]) -> None:
    """Updates alone never share a leaf, and nothing given is changed by them."""
    body = created()
    for manager, spec in writes:
        before = copy.deepcopy(body)
        after = write(body, manager, **spec)
        assert body == before
        body = after
    for field in ("f:replicas", "f:paused", "f:minReadySeconds"):
        owners = [it for it in entries(body) if field in it["fieldsV1"].get("f:spec", {})]
        assert len(owners) == (field.removeprefix("f:") in body["spec"])


def test_nobody_owns_what_cannot_be_told_apart() -> None:
    """An item of a keyed list without its key: the server gives up on managedFields."""
    schema = schema_of(BY_KEY["serviceaccounts"])
    live = update_owners(None, {"metadata": {"name": "s"}}, "ci", now=EARLY, schema=schema)
    new = {"metadata": {"name": "s", "labels": {"a": "b"}}, "secrets": [{}]}
    for before in (None, live):
        assert update_owners(before, new, "ci", now=LATE, schema=schema) == new
